package recording

import (
	"reflect"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestARedactedReaderHandsNoHostCommandOrTextOn(t *testing.T) {
	m := meta
	m.More = map[string]string{"load": "./load me", "probe": "GET http://h2:80/", "sentence": "me/main.go:1", "fingerprint": "hw-1", "else": "me"}
	w, path := create(t, m)
	must(t, w.Program(programs[1]))
	for _, kind := range []sample.EventKind{sample.EventNote, sample.EventLoadStart, sample.EventLoadEnd, sample.EventExec, sample.EventReady, "later"} {
		must(t, w.Event(sample.Event{At: start, Kind: kind, Process: server, Text: "me"}))
	}
	must(t, w.Event(sample.Event{At: start, Kind: sample.EventExit, Process: server, Text: "exit 3"}))
	must(t, w.Event(sample.Event{At: start, Kind: sample.EventOOM, Process: server, Text: "above pod /kubepods/me"}))
	must(t, w.Gap(sample.Gap{From: start, What: "metrics", Why: "nobody listens at h1 or h2"}))
	must(t, w.Close())
	r, err := OpenRedacted(path)
	must(t, err)
	defer r.Close()
	got, err := r.Meta()
	must(t, err)
	want := map[string]string{"load": "…", "probe": "…", "fingerprint": "hw-1"}
	if got.Host != "" || got.BootID != "" || !slices.Equal(got.Command, []string{"server", "…"}) || !reflect.DeepEqual(got.More, want) {
		t.Errorf("meta %+v", got)
	}
	events, err := r.Events()
	must(t, err)
	for _, e := range events {
		if want := map[sample.EventKind]string{sample.EventExit: "exit 3", sample.EventReady: "…", sample.EventOOM: "above pod"}[e.Kind]; e.Text != want ||
			e.Process != (sample.ProcessKey{PID: 1, Start: 1}) {
			t.Errorf("%+v, want text %q", e, want)
		}
	}
	gaps, err := r.Gaps()
	must(t, err)
	if len(events) != 8 || len(gaps) != 1 || gaps[0].Why != "nobody listens at … or …" {
		t.Errorf("%d events, gaps %+v", len(events), gaps)
	}
	list, err := r.Programs()
	must(t, err)
	if p := list[0]; p.Exe != "server" || p.Go.Revision != "" || p.Parent != 0 || p.Key.PID != 1 {
		t.Errorf("program %+v", p)
	}
}
