// Reloaduse is the API of a logistics firm whose partners have quotas. The quotas are read again
// all the time, and whatever was read becomes a middleware of Echo, which is put after those
// that are there: the old ones stay in the chain, and with them the quotas of before. Repaired,
// there is one middleware, and what it looks at is replaced.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// quotas has 16 bytes for each partner.
type quotas struct {
	version int
	table   []byte
}

func load(version, size int) *quotas {
	q := &quotas{version, frame.Touch(make([]byte, size))} // truth: allocates
	for at := 0; at+16 <= size; at += 16 {
		binary.LittleEndian.PutUint64(q.table[at:], 1000)
	}
	return q
}

func (q *quotas) check(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var partner int
		fmt.Sscan(c.Request().Header.Get("X-Partner"), &partner)
		at := partner * 16 % len(q.table)
		if binary.LittleEndian.Uint64(q.table[at:]) == 0 {
			return echo.NewHTTPError(http.StatusTooManyRequests)
		}
		return next(c)
	}
}

type api struct {
	echo     *echo.Echo
	now      atomic.Pointer[quotas]
	replaces bool
	parcels  map[string]*parcel // 13 MiB
	served   int
}

type parcel struct {
	stops  [20]string
	weight int
}

func newAPI(replaces bool) *api {
	a := &api{echo: echo.New(), replaces: replaces, parcels: map[string]*parcel{}}
	for i := range 38_000 {
		p := &parcel{weight: i % 30_000}
		for n := range p.stops {
			p.stops[n] = "depot"
		}
		a.parcels[fmt.Sprintf("p%d", i)] = p
	}
	a.echo.GET("/parcels/:id", a.parcel)
	if replaces {
		a.echo.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error { return a.now.Load().check(next)(c) }
		})
	}
	return a
}

func (a *api) parcel(c echo.Context) error {
	p := a.parcels[c.Param("id")]
	if p == nil {
		return echo.ErrNotFound
	}
	a.served++
	return c.JSON(http.StatusOK, p)
}

// reload is called when the quotas have changed.
func (a *api) reload(q *quotas) {
	if a.replaces {
		a.now.Store(q)
		return
	}
	a.echo.Use(q.check) // truth: keeps
}

func main() {
	f := frame.Parse()
	a := newAPI(f.Repaired)
	f.Each(func(i int) {
		a.reload(load(i, f.Unit)) // truth: loads
		if i%40 > 0 {
			return
		}
		r := httptest.NewRequest("GET", fmt.Sprintf("/parcels/p%d", i%38_000), nil)
		r.Header.Set("X-Partner", fmt.Sprint(i%900))
		answer := httptest.NewRecorder()
		if a.echo.ServeHTTP(answer, r); answer.Code != http.StatusOK {
			log.Fatal(answer.Code)
		}
	})
	f.Stay()
	log.Printf("%d served", a.served)
}
