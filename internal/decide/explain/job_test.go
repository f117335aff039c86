package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A job may listen for who asks for its figures: it served somebody where a look found a goroutine that its server started.
func TestWhoListensServesWhereSomebodyCame(t *testing.T) {
	for begun, want := range map[int]bool{0: false, 3: true} {
		s := newScene()
		site := s.site("main.build", "/build/shop/main.go", 26, 100, 0)
		for i := range 5 {
			site.Course = append(site.Course, SiteSnapshot{At: float64(i), Goroutines: true})
		}
		site.Course[3].Begun = map[string]int{begunBy + "net/http.(*Server).Serve": begun, begunBy + "main.build": 2}
		k := &Case{Evidence: s.Evidence, site: site, proc: s.p}
		if k.servedAny() {
			t.Error("nobody listens, and it served somebody")
		}
		var at []sample.Location
		for _, f := range []string{accepts, "net.(*TCPListener).Accept", "net/http.(*Server).Serve", "main.main.func1"} {
			at = append(at, sample.Location{Frames: []sample.Frame{{Func: f}}})
		}
		s.p.Goroutines = append(s.p.Goroutines, sample.GoroutineGroup{Count: 1, Reason: "IO wait", Where: at})
		if got := k.servedAny(); got != want {
			t.Errorf("%d were begun: %v", begun, got)
		}
	}
}
