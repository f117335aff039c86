package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// stores are those that a test runs with: SQLite always, a server of ClickHouse where one can be started, and
// in make matrix its current engine.
func stores(t *testing.T, do func(*testing.T, Store)) {
	t.Run("sqlite", func(t *testing.T) {
		s, err := Open("file://"+filepath.Join(t.TempDir(), "a directory"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		do(t, made(t, s))
	})
	t.Run("clickhouse", func(t *testing.T) { do(t, made(t, startClickHouse(t))) })
	t.Run("chdb", func(t *testing.T) { do(t, made(t, startChDB(t))) })
}

func made(t *testing.T, s Store) Store {
	t.Helper()
	for range 2 { // the second time nothing is made
		if err := s.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func put[T any](t *testing.T, s Store, table *Table, rows ...T) {
	t.Helper()
	if err := s.Put(t.Context(), table, Encode(nil, rows...)); err != nil {
		t.Fatal(err)
	}
}

var monday = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

func TestWhatIsWrittenTwiceIsThereOnce(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		for _, name := range strange {
			in := Incident{Tenant: name, Service: name, At: monday, Incident: hashOf(name), Kind: KindKill, Sentence: name, Written: monday}
			for range 3 {
				put(t, s, Incidents, in)
			}
			in.Recording, in.Written = "s3://b/"+name, monday.Add(time.Second) // filled in later
			put(t, s, Incidents, in)
			in.Recording, in.Written = "", monday // an old one, sent again
			put(t, s, Incidents, in)
			valid := strings.ToValidUTF8(name, "\uFFFD")
			got, err := AllIncidents(t.Context(), s, Scope{Tenant: valid, Service: valid})
			if err != nil || len(got) != 1 || got[0].Sentence != valid || got[0].Recording != "s3://b/"+valid {
				t.Errorf("%q: %+v, %v", name, got, err)
			}
		}
	})
}

func TestAnIncidentIsFoundByTheBeginningOfItsID(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		one, other := ID{0xab, 0xcd, 0xef, 0x01, 0x02}, ID{0xab, 0xcd, 0xef, 0x01, 0x03}
		put(t, s, Incidents, Incident{Tenant: "a", Incident: one, At: monday, Service: "shop"}, Incident{Tenant: "a", Incident: other, At: monday},
			Incident{Tenant: "b", Incident: ID{0xab, 0xcd, 0xef, 0x01, 0x02, 0x03}})
		got, err := Find(t.Context(), s, "a", "ABCDEF0102")
		if err != nil || got.Incident != one || got.Service != "shop" {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := Find(t.Context(), s, "a", "abcdef01"); err == nil || !strings.Contains(err.Error(), "several") {
			t.Errorf("two have it: %v", err)
		}
		if _, err := Find(t.Context(), s, "a", "00000000"); !errors.Is(err, ErrNone) {
			t.Errorf("none has it: %v", err)
		}
		for _, wrong := range []string{"", "abc", "hw-0475de", strings.Repeat("a", 33), "zzzzzzzz"} {
			if _, err := Find(t.Context(), s, "a", wrong); err == nil || errors.Is(err, ErrNone) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	})
}

func TestACauseIsNewKnownOrCameBack(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		hour := func(n int) time.Time { return monday.Add(time.Duration(n) * time.Hour) }
		for i, v := range []string{"v1", "v2", "v3"} {
			put(t, s, Processes, Process{Tenant: "t", Service: "shop", Process: ID{byte(i)}, Version: v, Started: hour(10 * i), Written: hour(0)})
		}
		kill := func(n int, version, fingerprint, class, pod string) {
			at := hour(n)
			put(t, s, Incidents, Incident{Tenant: "t", Service: "shop", At: at, Incident: IncidentID(ID{byte(n)}, KindKill, at), Kind: KindKill, Version: version,
				Fingerprint: fingerprint, Class: class, Pod: pod, Sentence: pod + " was OOM-killed.", Function: "main.put", File: "put.go", Line: 7, Written: at})
		}
		kill(1, "v1", "hw-known", "leak", "shop-0")
		kill(2, "v1", "hw-back", "leak", "shop-1")
		kill(12, "v2", "hw-known", "leak", "shop-0")
		kill(21, "v3", "hw-back", "leak", "shop-1")
		kill(22, "v3", "hw-known", "leak", "shop-2")
		kill(23, "v3", "hw-known", "leak", "shop-3")
		kill(24, "v3", "hw-new", "native", "shop-2")
		kill(25, "v3", "", Unread, "shop-2")
		put(t, s, Incidents, Incident{Tenant: "other", Service: "shop", At: hour(24), Incident: ID{9}, Kind: KindKill, Fingerprint: "hw-new"})
		got, err := Causes(t.Context(), s, Scope{Tenant: "t", Since: hour(20)})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, c := range got {
			text += fmt.Sprintf("%s %s since %s: %d of %d pods, %s\n", cmpOr(c.Fingerprint, c.Class), c.Status, c.Since, c.Kills, c.Pods, c.Where)
		}
		want := `hw-known known since v1: 2 of 2 pods, put.go:7
unread new since v3: 1 of 1 pods, put.go:7
hw-new new since v3: 1 of 1 pods, put.go:7
hw-back came back since v3: 1 of 1 pods, put.go:7
`
		if text != want {
			t.Errorf("%s", text)
		}
	})
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// planted is a fleet of services whose heaps do not grow but for some lines, over a week.
type planted struct {
	services, pods, stacks int
	grow                   []int // services with a line that grows; each in another version
	days                   int
}

// grows is the stack of a service that grows, where one does.
const grows = 3

func (p planted) fill(t *testing.T, s Store) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for service := range p.services {
		name := fmt.Sprintf("service-%03d", service)
		var names []Stack
		for k := range p.stacks {
			function := fmt.Sprintf("%s/cache.(*store).line%d", name, k)
			names = append(names, Stack{Tenant: "t", Stack: hashOf(function), Function: function, File: "cache.go", Line: uint32(10 + k), Written: monday})
		}
		put(t, s, Stacks, names...)
		place := slices.Index(p.grow, service)
		var hours []HeapHour
		begun := map[ID]bool{}
		for pod := range p.pods {
			for h := range p.days * 24 {
				life := 0
				if pod%2 == 0 {
					life = h / 24 // half of the pods restart every day
				}
				process := hashOf(name, fmt.Sprint(pod), fmt.Sprint(life))
				at := monday.Add(time.Duration(h) * time.Hour)
				version := fmt.Sprintf("v%d", 1+h/48)
				if !begun[process] {
					begun[process] = true
					put(t, s, Processes, Process{Tenant: "t", Service: name, Process: process, Version: version, Started: at, Written: at, HeapProfile: "on"})
				}
				all := uint64(0)
				for k := range p.stacks {
					mean := uint64(1<<20 + r.IntN(1<<18))
					if place >= 0 && k == grows && h >= 48*(place%3+1) {
						mean += uint64(10+place) << 20 // from the version that it begins in
					}
					all += mean
					hours = append(hours, HeapHour{Tenant: "t", Service: name, Stack: names[k].Stack, Process: process, Hour: at, Version: version, InUseSeconds: mean * 3600,
						Seconds: 3600, InUseMax: mean, InUseLast: mean, Written: at})
				}
				hours = append(hours, HeapHour{Tenant: "t", Service: name, Stack: AllStacks, Process: process, Hour: at, Version: version, InUseSeconds: all * 3600,
					Seconds: 3600, InUseMax: all, InUseLast: all, Written: at})
			}
		}
		put(t, s, HeapHours, hours...)
		put(t, s, HeapHours, hours[:len(hours)/3]...) // sent again
	}
}

func TestTheLinesThatGrewAreTheFirst(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		p := planted{services: 20, pods: 2, stacks: 5, grow: []int{2, 5, 7, 11, 12, 14, 17, 19}, days: 8}
		p.fill(t, s)
		got, err := Top(t.Context(), s, Scope{Tenant: "t", Since: monday}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if got.Services != 20 || got.From != monday || got.To != monday.Add(8*day) || len(got.Lines) < len(p.grow) {
			t.Fatalf("%d services from %v to %v, %d lines", got.Services, got.From, got.To, len(got.Lines))
		}
		for i, line := range got.Lines[:len(p.grow)] {
			place := len(p.grow) - 1 - i // the last grew most
			wantSince := fmt.Sprintf("v%d", place%3+2)
			if want := fmt.Sprintf("service-%03d/cache.(*store).line%d", p.grow[place], grows); line.Function != want || line.Since != wantSince {
				t.Errorf("line %d is %s since %s, want %s since %s", i, line.Function, line.Since, want, wantSince)
			}
			if grew := line.Bytes() / float64(uint64(10+place)<<20); grew < 0.9 || grew > 1.1 {
				t.Errorf("%s grew by %.2f of what it did", line.Function, grew)
			}
		}
		if one, err := Top(t.Context(), s, Scope{Tenant: "t", Service: "service-005", Since: monday}, 10); err != nil || len(one.Lines) == 0 ||
			one.Lines[0].Service != "service-005" || one.Services != 1 {
			t.Errorf("of one service: %+v, %v", one, err)
		}
		first := got.Lines
		for range 2 {
			if done, err := Rollup(t.Context(), s, "t", monday.Add(8*day+time.Hour)); err != nil || len(done.Days) == 0 {
				t.Fatalf("%+v, %v", done, err)
			}
		}
		got, err = Top(t.Context(), s, Scope{Tenant: "t", Since: monday, Now: monday.Add(8 * day)}, 10)
		if err != nil || got.table != HeapDays.Name || got.Services != 20 || len(got.Lines) < len(p.grow) {
			t.Fatalf("of days: %+v, %v", got, err)
		}
		for i, line := range got.Lines[:len(p.grow)] {
			if was := first[i]; line.Function != was.Function || line.Since != was.Since || math.Abs(line.To-was.To) > 0.1*was.To {
				t.Errorf("line %d by days is %+v, by hours %+v", i, line, was)
			}
		}
		if none, err := Top(t.Context(), s, Scope{Tenant: "nobody", Since: monday}, 10); err != nil || len(none.Lines) != 0 || !none.To.IsZero() {
			t.Errorf("of a tenant that there is not: %+v, %v", none, err)
		}
	})
}

func TestAnAddressOfAStoreIsChecked(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                               "a store is",
		"file://relative/path":           "a store is",
		"s3://bucket":                    "a store is",
		"http://db.example.org:8123/hw":  "unencrypted",
		"https://user:secret@db:8443/hw": "no password",
		"https://db:8443/h'w":            "cannot be a database",
		"https://db:8443/hw?user=a":      "a store is",
	} {
		if _, err := Open(address, Options{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"http://127.0.0.1:8123/hw", "http://[::1]:8123", "https://db:8443/hw"} {
		s, err := Open(address, Options{})
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		s.Close()
	}
}

// answers is a server that answers as it is told.
func answers(t *testing.T, status int, body string) Store {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	s, err := Open(server.URL+"/hw", Options{Credentials: Credentials{User: "agent", Password: "of-the-agent"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatAStoreAnswersIsToldApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status  int
		body    string
		refused bool
		user    bool
		text    string
	}{
		{200, "<!doctype html><title>Sign in</title>", false, false, "no ClickHouse server"},
		{400, "Code: 62. DB::Exception: Syntax error", true, false, "Syntax error"},
		{404, "Code: 60. DB::Exception: Table hw.incident doesn't exist", false, false, "incident"},
		{401, "", false, true, ""},
		{516, "", false, false, "516"},
		{403, "Code: 516. DB::Exception: agent: Authentication failed", false, true, "Authentication failed"},
		{500, "Code: 516, e.displayText() = DB::Exception: Wrong password", false, true, "Wrong password"},
		{500, "Code: 241. DB::Exception: Memory limit (total) exceeded", false, false, "Memory limit"},
		{500, "Code: 27. DB::Exception: Cannot parse input", true, false, "Cannot parse"},
		{503, "upstream is away", false, false, "upstream"},
		{429, "", false, false, "429"},
		{302, "", false, false, "302"},
	} {
		err := answers(t, c.status, c.body).Put(t.Context(), Points, Encode(nil, Point{}))
		if err == nil || errors.Is(err, ErrRefused) != c.refused || errors.Is(err, ErrCredentials) != c.user || !strings.Contains(err.Error(), c.text) ||
			strings.Contains(err.Error(), "of-the-agent") {
			t.Errorf("%d %q: %v", c.status, c.body, err)
		}
	}
}

func TestAStoreThatIsAwayIsSaidWithoutTheQuery(t *testing.T) {
	t.Parallel()
	s, err := Open("http://127.0.0.1:1/hw", Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Put(context.Background(), Points, Encode(nil, Point{Service: "secret-service"}))
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "INSERT") {
		t.Error(err)
	}
	if _, err := AllIncidents(t.Context(), s, Scope{Tenant: "t"}); err == nil {
		t.Error("no error")
	}
}

func TestATableOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		other := *Incidents
		other.cols = slices.Clone(other.cols)[:5]
		switch s := s.(type) {
		case *sqlite:
			_, err := s.db.Exec("DROP TABLE incident; CREATE TABLE incident (tenant TEXT, severity TEXT)")
			if err != nil {
				t.Fatal(err)
			}
		case *clickHouse:
			for _, text := range []string{"DROP TABLE incident", "CREATE TABLE incident (tenant String, severity String) ENGINE = Log"} {
				if err := s.statement(t.Context(), s.database, text); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Init(t.Context()); err == nil || !strings.Contains(err.Error(), "severity") {
			t.Error(err)
		}
	})
}

func TestThePodOfAnIncidentIsAskedFor(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		odd := "o'pod\"; DROP TABLE incident; --"
		for i, p := range []Pod{{"prod", "shop-0"}, {"test", "shop-0"}, {"prod", odd}} {
			put(t, s, Incidents, Incident{Tenant: "t", Service: "shop", At: monday.Add(time.Duration(i) * time.Hour), Incident: ID{byte(i + 1)}, Kind: KindKill,
				Namespace: p.Namespace, Pod: p.Name, Written: monday})
		}
		scope := Scope{Tenant: "t", Since: monday.Add(-day)}
		for _, c := range []struct {
			pod  Pod
			want []byte
		}{{Pod{"prod", "shop-0"}, []byte{1}}, {Pod{"", "shop-0"}, []byte{2, 1}}, {Pod{"prod", odd}, []byte{3}}, {Pod{"prod", "shop-1"}, nil}} {
			got, err := OfPod(t.Context(), s, scope, c.pod)
			var ids []byte
			for _, in := range got {
				ids = append(ids, in.Incident[0])
			}
			if err != nil || string(ids) != string(c.want) {
				t.Errorf("%+v: %v, %v", c.pod, ids, err)
			}
		}
	})
}

func TestTheCourseOfAServiceIsByVersion(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		planted{services: 2, pods: 2, stacks: 5, grow: []int{1}, days: 3}.fill(t, s)
		put(t, s, Processes, Process{Tenant: "t", Service: "silent", Process: ID{1}, HeapProfile: "off", Started: monday, Written: monday})
		put(t, s, Incidents, Incident{Tenant: "t", Service: "silent", At: monday, Incident: ID{1}, Kind: KindKill, Written: monday})
		scope := Scope{Tenant: "t", Service: "service-001", Since: monday}
		got, err := Course(t.Context(), s, scope)
		if err != nil || len(got) != 72 || got[0].Version != "v1" || got[71].Version != "v2" || !got[0].Hour.Equal(monday) || got[0].Processes != 2 {
			t.Fatalf("%v, %d hours", err, len(got))
		}
		if grew := got[71].Bytes - got[0].Bytes; grew < 9<<20 || grew > 12<<20 {
			t.Errorf("from %.0f to %.0f", got[0].Bytes, got[71].Bytes)
		}
		scope.Service = ""
		all, err := Services(t.Context(), s, scope)
		if err != nil || len(all) != 3 || all[2].Service != "silent" && all[0].Service != "silent" {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, one := range all {
			if (one.Service == "silent") != (one.Silent == 1 && one.Kills == 1) {
				t.Errorf("%+v", one)
			}
		}
	})
}
