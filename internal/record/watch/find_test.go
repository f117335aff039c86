package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A process that is seen between its fork and its exec is looked at again once it has grown up, even where a busy
// machine is looked through every five seconds alone: it was found 20 s later with the next sweep.
func TestAProcessThatExecsBetweenTwoSlowLooksIsFound(t *testing.T) {
	root := t.TempDir()
	is := func(name string) {
		t.Helper()
		for file, text := range map[string]string{"7/comm": name + "\n", "7/task/7/stat": "7 (" + name + ") S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0"} {
			if err := os.MkdirAll(filepath.Join(root, "7/task/7"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	f := Finder{Root: root, Names: []string{"server"}}
	look := func(at time.Duration) int { return len(f.matching([]int{7}, time.Unix(100, 0).Add(at), false)) }
	is("sh")
	if n := look(0); n != 0 {
		t.Fatalf("a shell was found")
	}
	is("server")
	if n := look(5 * time.Second); n != 1 {
		t.Errorf("it was not found after its exec")
	}
	is("sh")
	if n := look(10 * time.Second); n != 1 {
		t.Errorf("one that has grown up is left to the next sweep, and was looked at")
	}
}

// A machine so busy that a look through it takes seconds is looked through again soon: a
// share of the time without an end was a program that nobody found.
func TestASweepThatTookLongIsNotTheLastForMinutes(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: sweepEvery, 10 * time.Millisecond: 5 * time.Second, 3 * time.Second: sweepWithin,
		time.Minute: sweepWithin} {
		if got := sweepAfter(took); got != want {
			t.Errorf("after one of %v the next is due in %v, want %v", took, got, want)
		}
	}
}
