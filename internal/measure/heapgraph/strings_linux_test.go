package heapgraph

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

func TestCopiesAmongStringsAreCounted(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	want := map[string]Copies{
		"users":  {1000, 40, 24_000, 960 * 24},
		"codes":  {900, 30, 4500, 870 * 5},
		"ids":    {500, 500, 20_000, 0},
		"texts":  {20, 2, 2_000_000, 18 * 100_000},
		"keys":   {300, 300, 7200, 0},
		"boxed":  {100, 1, 2100, 99 * 21},
		"shared": {1, 1, 34, 0},
	}
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			p := startShapes(t, hwtest.BuildOptions{Toolchain: version}, "copies", "off")
			o, _, _ := p.graph(t)
			o.WantStrings()
			a, err := Analyze(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			s, err := a.Strings(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, sum := make(map[string]Copies), Copies{}
			for i, on := range s.On {
				if rest, ok := strings.CutPrefix(on.Path, "main."); ok {
					// A map that grows holds some keys by two of its tables, so that they have a path of their own.
					field, _, _ := strings.Cut(strings.ReplaceAll(rest, "…", "["), "[")
					c := got[field]
					got[field] = Copies{c.Strings + on.Strings, c.Distinct + on.Distinct, c.Bytes + on.Bytes, c.Copied + on.Copied}
				}
				if i > 0 && on.Copied > s.On[i-1].Copied {
					t.Errorf("%s has more copies than %s", on.Path, s.On[i-1].Path)
				}
				sum.Strings, sum.Bytes, sum.Copied = sum.Strings+on.Strings, sum.Bytes+on.Bytes, sum.Copied+on.Copied
			}
			for field, c := range want {
				if got[field] != c {
					t.Errorf("%s: %+v, not %+v", field, got[field], c)
				}
				delete(got, field)
			}
			if len(got) > 0 {
				t.Errorf("other fields have strings, too: %+v", got)
			}
			// The same text may lie on two paths.
			if s.Strings != sum.Strings || s.Bytes != sum.Bytes || s.Copied < sum.Copied || s.Left.NoRoom+s.Left.Unread > 0 {
				t.Errorf("in all %+v, on the paths %+v", s, sum)
			}
		})
	}
}
