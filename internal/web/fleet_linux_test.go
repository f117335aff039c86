package web_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/fleet"
	"github.com/highwater-go/highwater/internal/hwtest"
	"github.com/highwater-go/highwater/internal/recording"
)

// fleetOf fills a store: checkout grows since v2 and was killed, with a recording; quiet does
// not grow and keeps no heap profile.
func fleetOf(t *testing.T) (address string) {
	t.Helper()
	dir := t.TempDir()
	s, err := fleet.Open("file://"+dir, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := recording.Create(filepath.Join(dir, "kill.hwm"), recording.Meta{At: time.Now(), Command: []string{"/srv/checkout"}})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Now().UTC().Truncate(time.Hour).Add(-48 * time.Hour)
	stack, process := fleet.ID{7}, fleet.ID{8}
	var rows []fleet.HeapHour
	for h := range 48 {
		at, version := hour.Add(time.Duration(h)*time.Hour), fmt.Sprintf("v%d", 1+h/24)
		held := uint64(10<<20 + h<<20)
		for _, id := range []fleet.ID{fleet.AllStacks, stack} {
			rows = append(rows, fleet.HeapHour{Tenant: "default", Service: "checkout", Stack: id, Process: process, Hour: at, Version: version, InUseSeconds: held * 3600, Seconds: 3600, InUseMax: held, InUseLast: held, Written: at})
		}
	}
	written := time.Now()
	for _, one := range []struct {
		t *fleet.Table
		b []byte
	}{
		{fleet.HeapHours, fleet.Encode(nil, rows...)},
		{fleet.Stacks, fleet.Encode(nil, fleet.Stack{Tenant: "default", Stack: stack, Function: "shop/orders.(*cache).put", File: "/src/orders/cache.go", Line: 88, Written: written})},
		{fleet.Processes, fleet.Encode(nil, fleet.Process{Tenant: "default", Service: "checkout", Process: process, Version: "v2", Started: hour, HeapProfile: "on", Written: written},
			fleet.Process{Tenant: "default", Service: "a <b>quiet</b> service", Process: fleet.ID{9}, Started: hour, HeapProfile: "off", Written: written})},
		{fleet.Incidents, fleet.Encode(nil, fleet.Incident{Tenant: "default", Service: "checkout", At: time.Now().Add(-time.Hour), Incident: fleet.ID{0xab, 0xcd, 0xef, 1, 2, 3}, Kind: fleet.KindKill, Version: "v2", Fingerprint: "hw-0123456789abcdef", Class: "leak",
			Sentence: "checkout was OOM-killed.", Cause: "Orders are kept.", File: "orders/cache.go", Line: 88, Ledger: `{"live Go heap": 1048576, "garbage": 2097152}`, Recording: "file://" + filepath.Join(dir, "kill.hwm"), Written: written})},
	} {
		if err := s.Put(t.Context(), one.t, one.b); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + dir
}

func TestTheFleetLeadsToAServiceAndToAnIncident(t *testing.T) {
	hwtest.Need(t, hwtest.Chromium)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	address := serve(t, "--fleet", "--store", fleetOf(t))
	b := browser(t)
	text := func(selector string) string {
		return value[string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.innerText.replace(/\s+/g, ' ').trim()).join(' | ')`, selector))
	}
	b.do(chromedp.Navigate(address))
	b.until(`document.querySelectorAll('.cards tbody tr').length === 3`)
	rows := strings.Split(text(".cards tbody tr"), " | ")
	if len(rows) != 3 || !strings.HasPrefix(rows[0], "checkout") || !strings.Contains(rows[0], "orders/cache.go:88") || !strings.Contains(rows[1], "a <b>quiet</b> service") || !strings.Contains(rows[2], "checkout was OOM-killed. Orders are kept.") {
		t.Errorf("services and incidents: %q", rows)
	}
	value[bool](b, `[...document.querySelectorAll('.cards th a')].find((x) => x.innerText === 'checkout').click() ?? true`)
	b.until(`document.querySelector('.fleet-course')`)
	if got := value[int](b, `document.querySelectorAll('.fleet-course polyline').length`); got != 2 {
		t.Errorf("%d versions are drawn", got)
	}
	if got := text("main"); !strings.Contains(got, "garbage 2.0 MiB") || !strings.Contains(got, "orders/cache.go:88") || !strings.Contains(got, "v2") {
		t.Errorf("the service: %s", got)
	}
	value[bool](b, `document.querySelector('.cards a[href^="r/"]').click() ?? true`)
	b.until(`location.pathname.includes('/r/abcdef010203')`)
	b.until(`document.body.innerText.includes('checkout')`)
}
