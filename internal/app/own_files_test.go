package app

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
)

// A file of the user's that is written wrongly is told first, and one that may not be read last.
func TestWhatMayNotBeReadOfTheUsersOwnFilesComesLast(t *testing.T) {
	seen := explain.Gap{What: "lines of native memory"}
	for err, want := range map[error][]string{
		nil:                                      {seen.What},
		errors.New("line 3: no }"):               {"notes", seen.What},
		fmt.Errorf("stat: %w", fs.ErrPermission): {seen.What, "notes"},
	} {
		var got []string
		for _, g := range withOwnFile([]explain.Gap{seen}, "notes", err) {
			got = append(got, g.What)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
