package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Offline is the data of a page that stands alone: the whole course at one
// resolution, and the instants that it can show.
type Offline struct {
	Overview *Overview  `json:"overview"`
	Timeline *Timeline  `json:"timeline"`
	Instants []*Instant `json:"instants"`
	Tuning   *Tuning    `json:"tuning"`
	Held     *Held      `json:"held"` // of the moment of the verdict
	LeftOut  []string   `json:"left_out"`
	Sources  []string   `json:"sources"` // files of this machine of which lines are in it
	Pprof    []byte     `json:"pprof"`   // of the moment of the verdict
}

// offlineInstants and offlineBytes bound a page that stands alone: it is to be
// attached to a ticket.
const (
	offlineInstants = 24
	offlineBytes    = 6 << 20
)

// WriteOffline writes the page with its data as one file and says what it left
// out. The file needs no network, and asks for none.
func (b *Book) WriteOffline(w io.Writer) (leftOut []string, err error) {
	o, err := b.Overview()
	if err != nil {
		return nil, err
	}
	all := Offline{Overview: o, LeftOut: []string{}}
	whole := *o
	whole.Live = false
	all.Overview = &whole
	if all.Timeline, err = b.Timeline(o.From, o.until(), overviewSteps); err != nil {
		return nil, err
	}
	if !all.Timeline.Exact {
		all.LeftOut = append(all.LeftOut, fmt.Sprintf("samples: the least and the greatest of each of %d steps are kept", overviewSteps))
	}
	if err := all.addInstants(b); err != nil {
		return nil, err
	}
	if all.Held, err = b.Held(""); err != nil {
		return nil, err
	}
	if all.Tuning, err = b.Tuning(); err != nil {
		return nil, err
	}
	var profile bytes.Buffer
	if err := b.Pprof(&profile, ""); err == nil {
		all.Pprof = profile.Bytes()
	}
	all.Sources = b.sources()
	data, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	d, err := offlinePage(pageData{Title: o.Answer.Program.Name + ", " + o.Name, Kind: "book", Text: o.Text}, data)
	if err != nil {
		return nil, err
	}
	return all.LeftOut, writePage(w, d)
}

// sources are the files that lines were taken from.
func (b *Book) sources() []string {
	if b.Source == nil {
		return []string{}
	}
	return append([]string{}, b.Source.Shown()...)
}

// addInstants chooses those with a name first, then others evenly, until there are
// enough or they are too large.
func (all *Offline) addInstants(b *Book) error {
	bytes, taken := 0, map[float64]bool{}
	add := func(at string) error {
		i, err := b.Instant(at, "")
		if err != nil {
			return err
		}
		text, err := json.Marshal(i)
		if err != nil {
			return err
		}
		if taken[i.Moment] && i.Name == "" || bytes+len(text) > offlineBytes && len(all.Instants) > 0 {
			return nil
		}
		taken[i.Moment] = true
		bytes += len(text)
		all.Instants = append(all.Instants, i)
		return nil
	}
	o := all.Overview
	// Where one moment has several names, the page shows it by the first of them.
	for _, named := range []struct {
		name string
		at   *float64
	}{{"kill", o.Kill}, {"peak", o.Peak}, {"last", o.Last}} {
		if named.at == nil {
			continue
		}
		if err := add(named.name); err != nil {
			return err
		}
	}
	step := max(1, (len(o.Moments)+offlineInstants-1)/offlineInstants)
	for n := len(o.Moments) - 1; n >= 0; n -= step {
		if err := add(fmt.Sprintf("%.9fs", o.Moments[n].At)); err != nil {
			return err
		}
	}
	sorting.Stable(all.Instants, func(a, b *Instant) int { return cmp.Compare(a.Moment, b.Moment) })
	if left := o.MomentsAll - len(taken); left > 0 {
		all.LeftOut = append(all.LeftOut, fmt.Sprintf("%d of %d moments", left, o.MomentsAll))
	}
	all.LeftOut = append(all.LeftOut, leftOf(o)...)
	return nil
}

// leftOf is what the overview itself does not list.
func leftOf(o *Overview) (out []string) {
	for _, l := range []struct {
		what        string
		listed, all int
	}{{"collections", len(o.Cycles), o.CyclesAll}, {"events", len(o.Events), o.EventsAll}, {"gaps", len(o.Gaps), o.GapsAll}} {
		if n := l.all - l.listed; n > 0 {
			out = append(out, fmt.Sprintf("%d of %d %s", n, l.all, l.what))
		}
	}
	return out
}
