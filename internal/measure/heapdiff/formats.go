package heapdiff

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Formats are what a profile can be written as, the first by default: pprof's own, folded stacks as
// flamegraph.pl and inferno read them, the file of speedscope.app, and OpenTelemetry's.
func Formats() []string { return []string{"pprof", "folded", "speedscope", OTLP} }

// Write writes a profile in one of Formats.
func Write(w io.Writer, p *profile.Profile, format string) error {
	switch format {
	case "", "pprof":
		return p.Write(w)
	case "folded":
		return writeFolded(w, p)
	case "speedscope":
		return writeSpeedscope(w, p)
	case OTLP:
		return writeOTLP(w, p)
	}
	return fmt.Errorf("no format %q: %s", format, strings.Join(Formats(), ", "))
}

// framesOf are the frames of a sample, the outermost first, with inlined calls.
func framesOf(s *profile.Sample) (list []profile.Line) {
	for _, l := range s.Location {
		list = append(list, l.Line...)
	}
	slices.Reverse(list)
	return list
}

func nameOf(l profile.Line) string {
	if l.Function == nil || l.Function.Name == "" {
		return "?"
	}
	return l.Function.Name
}

// folder makes a name one frame of a folded stack, in which a semicolon ends a frame and a space the stack.
var folder = strings.NewReplacer(";", ",", " ", "_", "\n", "_", "\r", "_")

// writeFolded writes a line for each stack, "main.main;main.serve 4096", of the profile's default
// value, the same stack once and the stacks in order.
func writeFolded(w io.Writer, p *profile.Profile) error {
	value := defaultValue(p)
	sums := map[string]int64{}
	for _, s := range p.Sample {
		var names []string
		for _, l := range framesOf(s) {
			names = append(names, folder.Replace(nameOf(l)))
		}
		if v := s.Value[value]; v != 0 && len(names) > 0 {
			sums[strings.Join(names, ";")] += v
		}
	}
	stacks := make([]string, 0, len(sums))
	for stack := range sums {
		stacks = append(stacks, stack)
	}
	slices.Sort(stacks)
	out := bufio.NewWriter(w)
	for _, stack := range stacks {
		fmt.Fprintf(out, "%s %d\n", stack, sums[stack])
	}
	return out.Flush()
}

// defaultValue is the index of the value that a profile shows first.
func defaultValue(p *profile.Profile) int {
	for i, t := range p.SampleType {
		if t.Type == p.DefaultSampleType {
			return i
		}
	}
	return len(p.SampleType) - 1
}

// speedscope is the file that speedscope.app reads (its file-format-schema.json): frames once, and a
// profile for each value.
type speedscope struct {
	Schema   string `json:"$schema"`
	Exporter string `json:"exporter"`
	Name     string `json:"name"`
	Active   int    `json:"activeProfileIndex"`
	Shared   struct {
		Frames []speedscopeFrame `json:"frames"`
	} `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
}

// speedscopeProfile has a stack of frames, outermost first, and a weight for each sample.
type speedscopeProfile struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int64   `json:"startValue"`
	End     int64   `json:"endValue"`
	Samples [][]int `json:"samples"`
	Weights []int64 `json:"weights"`
}

func writeSpeedscope(w io.Writer, p *profile.Profile) error {
	f := speedscope{Schema: "https://www.speedscope.app/file-format-schema.json", Exporter: "highwater", Active: defaultValue(p)}
	if f.Name = "highwater"; len(p.Comments) > 0 {
		f.Name = p.Comments[0]
	}
	f.Shared.Frames = []speedscopeFrame{}
	numbers := map[speedscopeFrame]int{}
	stacks := make([][]int, len(p.Sample))
	for i, s := range p.Sample {
		for _, l := range framesOf(s) {
			frame := speedscopeFrame{Name: nameOf(l), Line: l.Line}
			if l.Function != nil {
				frame.File = l.Function.Filename
			}
			n, known := numbers[frame]
			if !known {
				n = len(f.Shared.Frames)
				numbers[frame], f.Shared.Frames = n, append(f.Shared.Frames, frame)
			}
			stacks[i] = append(stacks[i], n)
		}
	}
	for i, t := range p.SampleType {
		one := speedscopeProfile{Type: "sampled", Name: t.Type, Unit: "none", Samples: [][]int{}, Weights: []int64{}}
		if t.Unit == "bytes" {
			one.Unit = t.Unit
		}
		for k, s := range p.Sample {
			if v := s.Value[i]; v > 0 && len(stacks[k]) > 0 {
				one.Samples, one.Weights = append(one.Samples, stacks[k]), append(one.Weights, v)
				one.End += v
			}
		}
		f.Profiles = append(f.Profiles, one)
	}
	return json.NewEncoder(w).Encode(&f)
}
