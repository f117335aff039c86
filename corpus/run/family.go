package main

import (
	"math/rand/v2"

	"github.com/highwater-go/highwater/corpus/truth"
)

// family is a kind of fault, or of innocence, and how its program is run.
type family struct {
	name    string
	program string   // folder in made; "": the family's name
	args    []string // before all others
	marks   []string // words of the marks that are this family's; none: all
	holder  []string
	steady  int64 // bytes that the program itself keeps from its start, rightly
	// innocent means that there is no faulty form.
	innocent bool
	// hint means that the class is what must be said, a line need not be.
	hint bool
	says []string // by the faulty one
	// shape chooses amounts and limit of a run.
	shape func(r *run, rng *rand.Rand)
	// classes are accepted of a faulty run.
	classes func(r *run) []string
	// calm are accepted of an innocent or repaired run, besides healthy.
	calm  func(r *run) []string
	trend string // of the faulty run
	// server means that it is loaded by itself with -client.
	server bool
	cgo    bool
	child  bool // its memory is another process's
}

// run is one program run in one way.
type run struct {
	*family
	truth.Run
	name    string
	faulty  bool
	soft    int64  // the limit that a repaired gcunaware tells the collector; 0: none
	setting string // variables of the environment that a fix sets, separated by spaces
}

const mib = 1 << 20

func always(classes ...string) func(*run) []string {
	return func(*run) []string { return classes }
}

// leaks accepts what a program that keeps what it makes is. One that the kernel kills before its heap was read three
// times needed more than its limit, and whether it would have come to rest was not seen. Where the collector was told a
// limit, it spirals below it, because of the leak: both are true.
func leaks(class string) func(*run) []string {
	return func(r *run) []string {
		all := []string{class}
		if r.LimitKind == "killed" && r.readings() < 3 {
			all = append(all, "baseline", "inconclusive")
		}
		if r.GOMEMLIMIT > 0 {
			all = append(all, "spiral")
		}
		return all
	}
}

// spikes accepts what a program is whose calls need much for a short time. Without a limit that hurts nobody: healthy is
// true, too, where the peak is named.
func spikes(r *run) []string {
	if r.LimitKind == "killed" {
		return []string{"burst"}
	}
	return []string{"burst", "healthy"}
}

// calmly accepts page cache, too: a file that is read in the background is page cache, and that is true to say of a
// program that has nothing else.
func calmly(r *run) []string {
	if r.Background == "pagecache" {
		return []string{"healthy", "page-cache"}
	}
	return []string{"healthy"}
}
