package heapgraph

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// A library's goroutines that each have a closure of the program's are told with it. Those that have none of their own but
// reach what all of them share are not.
func TestGoroutinesOfALibraryAreToldWithWhatTheyCall(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			got := startShapes(t, hwtest.BuildOptions{Toolchain: version}, "callbacks", "off").analyze(t).callbacks()
			text := ""
			for _, c := range got {
				text += fmt.Sprintf("%s %d %s %s:%d\n", c.Creator, c.Count, c.Closure.Func, filepath.Base(c.Closure.File), c.Closure.Line)
			}
			if want := "example.net/bus.(*Conn).Listen 40 main.(*session).take main.go:26\n" +
				"example.net/bus.(*Conn).Subscribe 40 main.join.func1 main.go:20\n"; text != want {
				t.Errorf("%s, want\n%s", text, want)
			}
		})
	}
}
