// Iplimits is a price service behind a rate limit by address. The limit drops the
// addresses that were silent the longest from its list, but leaves their records in
// its map. Repaired, it deletes both.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/highwater-go/highwater/corpus/made/frame"
	"github.com/highwater-go/highwater/corpus/made/iplimits/limit"
)

type article struct {
	Number int    `json:"number"`
	Cents  int    `json:"cents"`
	Text   string `json:"text"`
}

// shelf has 24 MiB of articles, all of which are asked for.
type shelf struct{ articles []article }

func main() {
	f := frame.Parse()
	guard := &limit.Guard{PerSecond: 5, Most: 300, Forget: f.Repaired}
	s := stock(24 << 10)
	router := chi.NewRouter()
	router.Use(guard.Middleware)
	router.Get("/articles/{number}", s.show)
	visits(f, router)
	f.Stay()
}

func stock(n int) *shelf {
	s := &shelf{}
	for i := range n {
		s.articles = append(s.articles, article{i, 199 + i%5000, strings.Repeat("a very good thing ", 55) + fmt.Sprint(i)})
	}
	return s
}

func (s *shelf) show(w http.ResponseWriter, r *http.Request) {
	var number int
	if _, err := fmt.Sscan(chi.URLParam(r, "number"), &number); err != nil || number >= len(s.articles) {
		http.NotFound(w, r)
		return
	}
	if err := json.NewEncoder(w).Encode(&s.articles[number]); err != nil {
		log.Print(err)
	}
}

// visits is the traffic: each visitor comes once, with the cookies that others gave
// it, and every tenth comes from the office.
func visits(f *frame.Frame, shop http.Handler) {
	cookie := "consent=" + strings.Repeat("tracking-0123456789abcdef;", f.Unit/26)
	f.Each(func(i int) {
		r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/articles/%d", i*37%(24<<10)), nil)
		from := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if i%10 == 9 {
			from = netip.AddrFrom4([4]byte{192, 168, 0, 1})
		}
		r.RemoteAddr = netip.AddrPortFrom(from, 40000).String()
		r.Header.Set("Cookie", cookie)
		shop.ServeHTTP(httptest.NewRecorder(), r)
	})
}
