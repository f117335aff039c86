package explain

import (
	"fmt"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The functions are what goroutines of such servers and clients stand in.
func TestWhatAConnectionsReaderAllocatesIsForTheCallsThatWait(t *testing.T) {
	const module = "example.org/shop"
	stack := func(names ...string) (where []sample.Location) {
		for i, name := range names {
			where = append(where, sample.Location{Frames: []sample.Frame{{Func: name, File: name + ".go", Line: i}}})
		}
		return where
	}
	group := func(n int, names ...string) sample.GoroutineGroup {
		return sample.GoroutineGroup{State: "waiting", Count: n, Where: stack(names...)}
	}
	receiving := []string{"runtime.gopark", "google.golang.org/grpc.(*clientStream).RecvMsg", "main.receive", "main.copyTable", "main.sync.func1",
		"golang.org/x/sync/errgroup.(*Group).Go.func1"}
	for name, c := range map[string]struct {
		allocated []string
		groups    []sample.GoroutineGroup
		callers   string
		at        string
	}{
		"a client of gRPC": {[]string{"mem.Get", "google.golang.org/grpc/internal/transport.(*http2Client).reader"},
			[]sample.GoroutineGroup{group(2, "main.idle"), group(90, receiving...), group(9, "google.golang.org/grpc.(*clientStream).SendMsg", "main.other")},
			"[main.copyTable main.sync.func1]", "main.sync.func1.go:4"},
		"a server of HTTP/2": {[]string{"net/http.(*http2serverConn).processData", "net/http.(*http2serverConn).serve"},
			[]sample.GoroutineGroup{group(30, "io.ReadAll", "example.org/shop/put.Body", "net/http.(*http2serverConn).runHandler")},
			"[example.org/shop/put.Body]", "example.org/shop/put.Body.go:1"},
		"nobody waits": {[]string{"google.golang.org/grpc/internal/transport.(*http2Client).reader"}, []sample.GoroutineGroup{group(90, "main.work")},
			"[]", ""},
		"only a library waits": {[]string{"google.golang.org/grpc/internal/transport.(*http2Client).reader"},
			[]sample.GoroutineGroup{group(90, "google.golang.org/grpc.(*clientStream).RecvMsg", "example.com/lib.Watch")}, "[]", ""},
		"no goroutine of readers": {[]string{"main.copyTable"}, []sample.GoroutineGroup{group(90, receiving...)}, "[]", ""},
	} {
		callers, at := awaitedBy(sample.Site{Stack: stack(c.allocated...)}, c.groups, module)
		names, place := []string{}, ""
		for _, k := range callers {
			names = append(names, k.Function)
		}
		if at != nil {
			place = fmt.Sprintf("%s:%d", at.File, at.Line)
		}
		if fmt.Sprint(names) != c.callers || place != c.at {
			t.Errorf("%s: %v at %q, want %s at %q", name, names, place, c.callers, c.at)
		}
	}
}
