package arrange_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/arrange"
)

type pair struct {
	key, was int
	name     string
}

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

// Every length, with few and with many keys: the same as the standard library's stable sort.
func TestItSortsAsTheStandardLibraryDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		for _, keys := range []int{1, 2, 7, 1000} {
			s := make([]pair, n)
			for i := range s {
				s[i] = pair{random.IntN(keys), i, fmt.Sprint(i)}
			}
			want := slices.Clone(s)
			slices.SortStableFunc(want, byKey)
			arrange.By(s, byKey)
			if !slices.Equal(s, want) {
				t.Fatalf("%d of %d keys: %v\nwant %v", n, keys, s, want)
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	for _, n := range []int{10, 1000} {
		random := rand.New(rand.NewPCG(1, 2))
		given := make([]pair, n)
		for i := range given {
			given[i] = pair{key: random.Int()}
		}
		s := make([]pair, n)
		for name, sort := range map[string]func(){
			"arrange":  func() { arrange.By(s, byKey) },
			"stable":   func() { slices.SortStableFunc(s, byKey) },
			"unstable": func() { slices.SortFunc(s, byKey) },
		} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				for b.Loop() {
					copy(s, given)
					sort()
				}
			})
		}
	}
}
