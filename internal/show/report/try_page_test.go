package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestTheTrialsPageLaysTheRunsOverOneAnother(t *testing.T) {
	values := func(mib float64) map[string]float64 {
		return map[string]float64{trial.FigurePeak: mib * float64(sample.MiB)}
	}
	runs := []trial.Run{{Variant: "base", N: 1, Ended: trial.Killed, Values: values(64)}, {Variant: "<new>", N: 1, Ended: trial.Finished, Values: values(16)}}
	a := trial.Compare(trial.Setup{Program: "server", Limit: 64 * sample.MiB},
		[]trial.Variant{{Name: "base", Command: "./server"}, {Name: "<new>", Command: "./server -v '<script>'"}}, runs)
	curves := []trial.Curve{
		{Run: runs[0], Seconds: []float64{0, 1}, Bytes: []float64{0, 64 * float64(sample.MiB)}},
		{Run: runs[1], Seconds: []float64{0, 2}, Bytes: []float64{0, 16 * float64(sample.MiB)}},
	}
	var page bytes.Buffer
	if err := TryPage(&page, a, curves); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{
		`<path class="limit" d="M0 12.3H1000">`,                                      // 64 of 66.56 MiB
		`<path class="v0 lost" d="M0.0 320.0L500.0 12.3"><title>base, run 1: killed`, // half as long
		`<path class="v1" d="M0.0 320.0L1000.0 243.1"><title>&lt;new&gt;, run 1: finished`,
		"./server -v &#39;&lt;script&gt;&#39;", "limit of 64 MiB", "2.0 s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "http") {
		t.Error("the page brings a script, or needs something beside it")
	}
	svg := text[strings.Index(text, "<svg"):strings.Index(text, "</svg>")] + "</svg>"
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is not well formed: %v\n%s", err, svg)
		}
	}
	if err := TryPage(io.Discard, trial.Compare(trial.Setup{Program: "server"}, []trial.Variant{{Name: "base"}}, nil), nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}
