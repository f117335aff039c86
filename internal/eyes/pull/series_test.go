package pull

import (
	"errors"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func at(function, file string) sample.Location {
	return sample.Location{Frames: []sample.Frame{{Func: function, File: file, Line: 1}}}
}

// of is a profile that counts so many sampled objects at functions a, b, ...
func of(allocs ...uint64) *Profile {
	p := &Profile{Program: Program{Exe: "/srv/shop", BuildID: "aa"}, Rate: 512}
	for i, n := range allocs {
		if n == 0 {
			continue
		}
		p.Sites = append(p.Sites, sample.Site{Size: 8, Stack: []sample.Location{at("main."+string(rune('a'+i)), "/src/shop/main.go")}})
		p.Counts = append(p.Counts, sample.BucketCounts{PubAllocs: n, NowAllocs: n})
		p.Allocated += int64(n)
	}
	return p
}

func TestSitesKeepTheirNumbersAndARestartBeginsAgain(t *testing.T) {
	var s Series
	for i, c := range []struct {
		profile   *Profile
		restarted bool
		first     int
		sites     int
		counts    []uint64
	}{
		{of(5), true, 0, 1, []uint64{5}},
		{of(6, 2), false, 1, 1, []uint64{6, 2}},
		{of(6, 3, 1), false, 2, 1, []uint64{6, 3, 1}},
		{of(1, 9, 9), true, 0, 3, []uint64{1, 9, 9}},  // less at a
		{of(0, 10, 10), true, 0, 2, []uint64{10, 10}}, // nothing at a
	} {
		step, err := s.Add(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		var counts []uint64
		for _, n := range step.Profile.Counts {
			counts = append(counts, n.PubAllocs)
		}
		if step.Restarted != c.restarted || step.First != c.first || len(step.Sites) != c.sites || len(counts) != len(c.counts) {
			t.Errorf("profile %d: %+v", i, step)
		}
		for n := range counts {
			if counts[n] != c.counts[n] {
				t.Errorf("profile %d: counts %v, want %v", i, counts, c.counts)
			}
		}
	}
}

func TestProfilesOfTwoProgramsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ got, says string }{
		"another executable": {"/srv/mail bb", "of /srv/mail, the ones before of /srv/shop"},
		"another build":      {"/srv/shop bb", "another build of shop"},
	} {
		var s Series
		if _, err := s.Add(of(1)); err != nil {
			t.Fatal(err)
		}
		other := of(2)
		other.Program.Exe, other.Program.BuildID, _ = strings.Cut(c.got, " ")
		var mixed ErrMixed
		if _, err := s.Add(other); !errors.As(err, &mixed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Add(&Profile{Rate: 512}); err != nil {
			t.Errorf("one that does not say what it is of: %v", err)
		}
	}
}

func TestTheModuleIsWhatLiesNeitherInOthersNorInTheStandardLibrary(t *testing.T) {
	const gopath = "/home/me/go/pkg/mod/"
	for name, c := range map[string]struct {
		want  string
		stack []sample.Location
	}{
		"one package": {"example.org/shop/store", []sample.Location{at("example.org/shop/store.Put", "/src/shop/store/put.go")}},
		"several": {"example.org/shop", []sample.Location{at("example.org/shop/store.(*T).Put", "/src/shop/store/put.go"),
			at("example.org/shop/api.F[go.shape.int]", "/src/shop/api/f.go")}},
		"beside others": {"example.org/shop", []sample.Location{at("example.org/shop.F", "/s/f.go"),
			at("example.org/lib.G", gopath+"example.org/lib@v1.2.3/g.go")}},
		"trimmed": {"example.org/shop", []sample.Location{at("example.org/shop.F", "example.org/shop/f.go"),
			at("net/http.(*conn).serve", "net/http/server.go")}},
		"vendored":        {"", []sample.Location{at("example.org/lib.G", "/src/shop/vendor/example.org/lib/g.go")}},
		"only main":       {"", []sample.Location{at("main.main", "/src/shop/main.go"), at("runtime.mallocgc", "/usr/local/go/src/runtime/malloc.go")}},
		"no host":         {"shop", []sample.Location{at("shop/store.Put", "/home/me/shop/store/put.go"), at("shop/api.F", "/home/me/shop/api/f.go")}},
		"two of one host": {"", []sample.Location{at("example.org/a.F", "/a/f.go"), at("example.org/b.F", "/b/f.go")}},
		"a fork in reach": {"", []sample.Location{at("example.org/x/a.F", "/a/f.go"), at("example.org/x/b.F", "/b/f.go"),
			at("example.org/x/c.F", gopath+"example.org/x/c@v1.0.0/f.go")}},
	} {
		if got := ModuleOf([]sample.Site{{Stack: c.stack}}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
