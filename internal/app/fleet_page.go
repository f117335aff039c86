package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// fleetPage is what the page of the fleet asks the store.
type fleetPage struct {
	store  fleet.Store
	tenant string
}

// pageSince is the time that the page asks of at first.
const pageSince = "7d"

// Bounds of what the page shows.
const (
	pageLines    = 20
	pageServices = 500 // those with most kills and growth
	pageCauses   = 200
)

// pageLine is a line as the page has it.
type pageLine struct {
	fleet.Growth
	Place string `json:"place"` // as answers name it
}

// pageCause is a cause as the page has it: the page leads to a recording where there is one.
type pageCause struct {
	fleet.Cause
	Recorded bool `json:"recorded"`
}

// pageFit is a recommendation with its words.
type pageFit struct {
	fleet.Fit
	Words string `json:"words"`
}

// pageRow is a row of a ledger.
type pageRow struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// fleetOverview is the data of the page.
type fleetOverview struct {
	Schema   string            `json:"schema"`
	Service  string            `json:"service"`
	Since    string            `json:"since"`
	Seen     string            `json:"seen"` // what the answer is of, in words
	Services []fleet.InService `json:"services"`
	Lines    []pageLine        `json:"lines"`
	Causes   []pageCause       `json:"causes"`
	Course   []fleet.Hourly    `json:"course"`
	Fit      *pageFit          `json:"fit"`
	Ledger   []pageRow         `json:"ledger"` // of the newest incident that has one
	LedgerOf string            `json:"ledger_of"`
}

// Overview is web.Fleet's.
func (p fleetPage) Overview(ctx context.Context, service, since string) (any, string, error) {
	since = orWord(since, pageSince)
	length, err := ParseSince(since)
	if err != nil {
		return nil, "", err
	}
	now := time.Now()
	scope := fleet.Scope{Tenant: p.tenant, Service: service, Since: now.Add(-length), Now: now}
	grown, err := fleet.Top(ctx, p.store, scope, pageServices)
	if err != nil {
		return nil, "", err
	}
	causes, err := fleet.Causes(ctx, p.store, scope)
	if err != nil {
		return nil, "", err
	}
	d := &fleetOverview{Schema: "highwater.fleet-page/1", Service: service, Since: since, Services: []fleet.InService{}, Lines: []pageLine{},
		Causes: []pageCause{}, Course: []fleet.Hourly{}, Ledger: []pageRow{}}
	d.take(grown, causes)
	if service == "" {
		err = d.all(ctx, p.store, scope, grown)
	} else {
		err = d.one(ctx, p.store, scope)
	}
	if err != nil {
		return nil, "", err
	}
	grown.Lines = grown.Lines[:min(len(grown.Lines), pageLines)]
	return d, inWords(func(s *Streams) {
		_ = PrintTop(s, since, grown) // into memory
		visible.Fprintf(s.Out, "\n")
		_ = PrintCauses(s, since, causes)
	}), nil
}

// inWords is what print prints.
func inWords(print func(*Streams)) string {
	var text strings.Builder
	s := &Streams{Out: visible.NewWriter(&text)}
	print(s)
	_ = s.Out.Flush() // into memory
	return text.String()
}

func (d *fleetOverview) take(grown *fleet.Fleet, causes []fleet.Cause) {
	what := strings.SplitN(inWords(func(s *Streams) { _ = PrintTop(s, d.Since, grown) }), "\n", 2)
	d.Seen = what[0]
	for _, g := range grown.Lines[:min(len(grown.Lines), pageLines)] {
		d.Lines = append(d.Lines, pageLine{g, lineOf(g)})
	}
	for _, c := range causes[:min(len(causes), pageCauses)] {
		d.Causes = append(d.Causes, pageCause{c, c.Last.Recording != ""})
		if rows := ledgerRows(c.Last.Ledger); len(d.Ledger) == 0 && len(rows) > 0 {
			d.Ledger, d.LedgerOf = rows, c.Last.Sentence
		}
	}
}

// ledgerRows are the rows of an incident's ledger, the largest first.
func ledgerRows(text string) []pageRow {
	var bytes map[string]int64
	rows := []pageRow{}
	if json.Unmarshal([]byte(text), &bytes) != nil {
		return rows
	}
	for name, n := range bytes {
		if n != 0 {
			rows = append(rows, pageRow{name, n})
		}
	}
	sorting.Stable(rows, func(a, b pageRow) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	return rows
}

// all adds the services, those with most kills first, and of these what grew most.
func (d *fleetOverview) all(ctx context.Context, s fleet.Store, scope fleet.Scope, grown *fleet.Fleet) error {
	list, err := fleet.Services(ctx, s, scope)
	if err != nil {
		return err
	}
	for i := range list {
		one := &list[i]
		for _, g := range grown.Lines {
			if g.Service == one.Service {
				one.Growth += g.Bytes()
				one.Line = orWord(one.Line, lineOf(g))
			}
		}
	}
	sorting.Stable(list, func(a, b fleet.InService) int {
		return cmp.Or(cmp.Compare(b.Kills, a.Kills), cmp.Compare(b.Growth, a.Growth), strings.Compare(a.Service, b.Service))
	})
	if len(list) > pageServices {
		d.Seen += fmt.Sprintf("; %d of these are shown", pageServices)
		list = list[:pageServices]
	}
	d.Services = append(d.Services, list...)
	return nil
}

// one adds what is shown of a single service.
func (d *fleetOverview) one(ctx context.Context, s fleet.Store, scope fleet.Scope) (err error) {
	if d.Course, err = fleet.Course(ctx, s, scope); err != nil {
		return err
	}
	fits, err := fleet.Fits(ctx, s, scope)
	if err == nil && len(fits) > 0 {
		d.Fit = &pageFit{fits[0], inWords(func(s *Streams) { PrintFits(s, fits[:1]) })}
	}
	return err
}
