package trial

import (
	"fmt"
	"io"
	"math"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// WriteBench writes the runs in the Go benchmark format, so that benchstat reads
// them: one benchmark, whose variants are told apart by the key "variant".
//
//	benchstat -col /variant FILE
//
// Figures of lost runs are left out, as benchstat would average them; that a run was
// lost is the unit "lost", 1 or 0.
func WriteBench(w io.Writer, a *Answer) error {
	out := benchfmt.NewWriter(w)
	for _, f := range append(Figures(a.Runs), Figure{Name: "lost"}) {
		better := "lower"
		if f.Higher {
			better = "higher"
		}
		if err := out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: f.unit(), Key: "better"}, OrigUnit: f.unit(),
			Value: better}); err != nil {
			return err
		}
	}
	var runs []Run // the base's first: benchstat compares with what it reads first
	for _, v := range a.Variants {
		runs = append(runs, runsOf(a.Runs, v.Name)...)
	}
	name := plain(a.Program)
	name = strings.ToUpper(name[:1]) + name[1:]
	for _, r := range runs {
		result := &benchfmt.Result{Name: benchfmt.Name(name + "/variant=" + plain(r.Variant)), Iters: 1, Config: []benchfmt.Config{
			{Key: "cpus", Value: fmt.Append(nil, a.Machine.CPUs), File: true}, {Key: "kernel", Value: []byte(a.Machine.Kernel), File: true}}}
		for _, f := range Figures(a.Runs) {
			if v, ok := r.Values[f.Name]; ok && (r.Ended == Finished || r.Ended == OverBudget) {
				result.Values = append(result.Values, benchfmt.Value{Value: v, Unit: f.unit()})
			}
		}
		lost := 0.0
		if r.Ended.Lost() {
			lost = 1
		}
		result.Values = append(result.Values, benchfmt.Value{Value: lost, Unit: "lost"})
		if err := out.Write(result); err != nil {
			return err
		}
	}
	return nil
}

// benchUnits are the names that others use for the same, and the forms that
// benchstat scales: nanoseconds and bytes behind a hyphen.
var benchUnits = map[string]string{FigureResident: "peak-RSS-bytes", FigurePeak: "peak-bytes"}

func (f Figure) unit() string {
	if u, ok := benchUnits[f.Name]; ok {
		return u
	}
	return strings.ReplaceAll(f.Name, "_", "-")
}

// plain is a name without what ends or divides one in the format.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '=':
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "_"
	}
	return s
}

// LoadFigures are the figures that a load prints in the benchmark format, by unit:
// the last of each. Other lines are left alone.
//
//	BenchmarkUploads 3 212.5 p99-ms 31 failed
func LoadFigures(output string) map[string]float64 {
	found := map[string]float64{}
	for r := benchfmt.NewReader(strings.NewReader(output), "load"); r.Scan(); {
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		for _, v := range result.Values {
			if !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0) {
				found[v.Unit] = v.Value
			}
		}
	}
	return found
}
