package malloc

import (
	"strings"
	"testing"
)

// An allocator is read, or it is said how to ask it.
func TestEveryAllocatorIsReadOrSaysHowToAskIt(t *testing.T) {
	for _, l := range libraries {
		if how := howToAsk[l.name]; (l.name == glibc) != (how == "") || how != "" && !strings.Contains(how, l.name) {
			t.Errorf("%s, known by %s*: %q", l.name, l.prefix, how)
		}
		if got := libraryOf("/usr/lib/" + l.prefix + ".so.2 (deleted)"); got < 0 || libraries[got].name != l.name {
			t.Errorf("a file of %s is taken for %d", l.name, got)
		}
	}
}
