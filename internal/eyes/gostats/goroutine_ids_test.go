package gostats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestTheLowestNumbersOfAGroupAreKept(t *testing.T) {
	var ids []uint64
	for _, id := range rand.Perm(1000) {
		ids = lowest(ids, uint64(id)+5)
	}
	if len(ids) != sample.MostIDs || ids[0] != 5 || ids[sample.MostIDs-1] != 4+sample.MostIDs || !slices.IsSorted(ids) {
		t.Errorf("%v", ids)
	}
}
