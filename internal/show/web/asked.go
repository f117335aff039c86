package web

import (
	"math"

	"github.com/highwater-go/highwater/internal/record/recording"
)

// mostFigures bounds the program's own figures that can be laid over the course,
// mostAnswers the requests and values that are read for it.
const (
	mostFigures = 24
	mostAnswers = 20_000
)

// latencyColumn is how long the probe's requests took, in seconds, at the time they
// were due; a figure that the program publishes is a column of this beginning.
const (
	latencyColumn = "request latency, s"
	figureColumn  = "figure "
)

// asked adds what was asked of the program while it ran: how long its answers took,
// and the figures that it publishes.
func (d *drawing) asked(r *recording.Reader) error {
	requests, _, err := r.RequestsAbout(mostAnswers)
	if err != nil {
		return err
	}
	latency := map[int64]float64{}
	for _, q := range requests {
		if at := q.Due.UnixNano(); d.holds(at) {
			latency[at] = q.Latency().Seconds()
		}
	}
	d.columns[latencyColumn] = inOrder(latency)
	figures, err := r.FiguresAbout(mostAnswers)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, f := range figures {
		if names[f.Name] = true; len(names) > mostFigures || !d.holds(f.At.UnixNano()) || math.IsNaN(f.Value) {
			continue
		}
		c := d.columns[figureColumn+f.Name]
		d.columns[figureColumn+f.Name] = course{append(c.at, f.At.UnixNano()), append(c.v, f.Value)}
	}
	return nil
}

// holds says whether a time is within what is drawn.
func (d *drawing) holds(at int64) bool {
	s := d.seconds(at)
	return s >= d.from && s <= d.to
}
