package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// row is a setting: predicted once, measured some times.
type row struct {
	setting   string
	predicted predicted
	measured  []seen
}

// write prints a subject's table, and how far off it is altogether.
func write(w io.Writer, s subject, base *answer, rows []row) {
	fmt.Fprintf(w, "### %s\n\n", s.name)
	if n := len(rows[0].measured); n != 3 {
		fmt.Fprintf(w, "Runs of each setting: %d. ", n)
	}
	fmt.Fprintf(w, "From one run with %s (%s; peak heap %.0f MiB, %.0f collections), graded %s: %s.\n\n", strings.Join(s.recordedWith(), " "), base.GoVersion,
		inMiB(base.Recorded.Peak), base.Recorded.GCs, base.Grade, strings.Join(base.Why, "; "))
	fmt.Fprintln(w, "| setting | peak heap predicted | measured | off | resident predicted | measured | off | GCs predicted | measured |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	var peaks, residents []float64
	within, runs := 0, 0
	for _, r := range rows {
		peak, resident := r.figures(func(v seen) float64 { return v.Peak }), r.figures(func(v seen) float64 { return v.Resident })
		p, q := off(r.predicted.Peak.P50, middle(peak)), off(r.predicted.Resident.P50, middle(resident))
		peaks, residents = append(peaks, math.Abs(p)), append(residents, math.Abs(q))
		for _, v := range peak {
			runs++
			if v >= 0.97*r.predicted.Peak.P5 && v <= 1.03*r.predicted.Peak.P95 {
				within++
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %+.1f %% | %s | %s | %+.1f %% | %.0f | %.0f |\n", r.setting, r.predicted.Peak, around(peak), p,
			r.predicted.Resident, around(resident), q, r.predicted.GCs, middle(r.figures(func(v seen) float64 { return v.GCs })))
	}
	fmt.Fprintf(w,
		"\nPeak heap: median error %.1f %%, greatest %.1f %%; %d of %d runs within the interval +- 3 %%. Resident: median %.1f %%, greatest %.1f %%.\n\n",
		middle(peaks), slices.Max(peaks), within, runs, middle(residents), slices.Max(residents))
}

// writeRefusal prints why there is no table.
func writeRefusal(w io.Writer, s subject, base *answer) {
	fmt.Fprintf(w, "### %s\n\nFrom one run with %s (%s; peak heap %.0f MiB, %.0f collections) nothing is predicted: %s.\n\n", s.name,
		strings.Join(s.recordedWith(), " "), base.GoVersion,
		inMiB(base.Recorded.Peak), base.Recorded.GCs, strings.Join(base.Why, "; "))
}

func (r row) figures(of func(seen) float64) (v []float64) {
	for _, m := range r.measured {
		v = append(v, of(m))
	}
	return v
}

func (p percent) String() string {
	return fmt.Sprintf("%.0f (%.0f..%.0f)", inMiB(p.P50), inMiB(p.P5), inMiB(p.P95))
}

// around is the middle of some figures, with the least and the greatest.
func around(v []float64) string {
	return fmt.Sprintf("%.0f (%.0f..%.0f)", inMiB(middle(v)), inMiB(slices.Min(v)), inMiB(slices.Max(v)))
}

func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

func off(predicted, measured float64) float64 { return 100 * (predicted/measured - 1) }

func inMiB(bytes float64) float64 { return bytes / (1 << 20) }
