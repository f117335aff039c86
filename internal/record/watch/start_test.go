package watch

import (
	"slices"
	"testing"
)

func TestTheLastSettingOfANameHolds(t *testing.T) {
	t.Parallel()
	got := environ([]string{"A=1", "GOGC=100", "AB=2", "=C:=x"}, []string{"GOGC=20", "B=", "GOGC=30"})
	if want := []string{"A=1", "AB=2", "=C:=x", "B=", "GOGC=30"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
