package explain

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestEachSceneHasItsVerdict(t *testing.T) {
	for name, want := range map[string]struct {
		class      Class
		confidence Confidence
		culprit    string // file:line, "" for none
	}{
		"leak":                                                   {Leak, Medium, "cache.go:57"},
		"slow leak, still running":                               {Leak, Low, "cache.go:57"},
		"leak in an endless loop of main":                        {Leak, Medium, "main.go:12"},
		"burst of uploads":                                       {Burst, Medium, "upload.go:172"},
		"burst in the first rise":                                {Burst, Medium, "csv.go:88"},
		"a leak under work in flight":                            {Leak, High, "apply.go:94"},
		"an upload killed in its first rise":                     {Burst, Low, "upload.go:172"},
		"requests that held it all before the first look":        {Burst, Medium, "upload.go:172"},
		"garbage over the limit":                                 {GCUnaware, High, ""},
		"garbage, killed before the second full collection":      {Inconclusive, Low, ""}, // it was still loading
		"garbage that was collected, but not given back":         {GCUnaware, High, ""},
		"garbage without a mark":                                 {Inconclusive, Low, ""},
		"cgo leak":                                               {Native, High, "db.go:44"},
		"a tool that a Go program starts":                        {Native, High, ""},
		"a file of 1 GiB written":                                {PageCache, High, ""},
		"steady and small":                                       {Healthy, High, ""},
		"no limit at all":                                        {Healthy, High, ""},
		"killed by somebody's SIGKILL":                           {Healthy, High, ""},
		"steady need above the limit":                            {Baseline, Medium, "index.go:31"},
		"tmpfs":                                                  {Shmem, High, ""},
		"workers that were busy all along":                       {Burst, Low, "jobs.go:12"},
		"thousands of goroutines that never end":                 {Goroutines, Medium, "push.go:14"},
		"one of several processes leaks":                         {Leak, Medium, "cache.go:57"},
		"one of several processes leaks, without a heap profile": {Leak, Low, ""},
		"several processes that are too many":                    {Baseline, Medium, ""},
		"plugins that nobody ends":                               {Processes, Medium, ""},
		"several processes, one of which still grew":             {Inconclusive, Low, ""},
		"freed memory that Go keeps":                             {IdleHeap, High, ""},
		"a service that ran for a night":                         {Healthy, High, ""},
		"a service that was watched for too short a time":        {Healthy, High, ""},
		"a slow leak in a night":                                 {Leak, High, "count.go:19"},
		"a cache that was filling up":                            {Leak, Medium, "cache.go:57"},
		"a leak that was killed at once":                         {Inconclusive, Low, ""},
		"a program that never collected":                         {Healthy, Medium, ""},
		"a stripped program that is well":                        {Inconclusive, Low, ""},
		"a night in which the machine slept":                     {Healthy, High, ""},
		"bodies that are not closed":                             {Goroutines, Medium, "transport.go:1945"},
		"connections that nobody asked for":                      {GCUnaware, High, "transport.go:1944"},
		"native memory that comes and goes":                      {Native, High, ""},
		"buffers that were reserved and never used":              {Untouched, High, "arena.go:40"},
		"patterns compiled for every value":                      {Churn, Medium, "formats.go:48"},
		"allocation that outran the collector":                   {Churn, Medium, "render.go:91"},
		"allocation that GC counted as live":                     {Churn, Medium, "render.go:91"},
		"a collector that runs all the time":                     {Spiral, High, ""},
		"a program that stands still at its limit":               {Thrash, High, "index.go:31"},
		"a stripped program":                                     {Inconclusive, Low, ""},
		"a program in another language":                          {Native, High, ""},
		"rows that outlive the function that read them":          {Burst, Medium, "table.go:142"},
		"the reader of a connection that remembers":              {Leak, Medium, "cache.go:57"},
		"killed without a last breath":                           {Inconclusive, Low, ""},
		"a value that is read whole":                             {Burst, Medium, "bodies.go:57"},
		"work in flight in one of several processes":             {Burst, High, "rows.go:73"},
		"growth that came to rest where all is kept":             {Leak, High, "wire.go:99"},
		"a loop that remembers, in a function of its own":        {Leak, Medium, "words.go:97"},
		"values that are read whole, three at once":              {Burst, Medium, "bodies.go:57"},
		"buffers in flight that are hardly touched":              {Burst, High, "uploads.go:71"},
		"a queue that fills faster than it is emptied":           {Backlog, High, "jobs.go:31"},
		"nothing could be read":                                  {Inconclusive, Low, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := answer(t, name)
			if a.Verdict.Class != want.class || a.Verdict.Confidence != want.confidence {
				t.Errorf("verdict %s (%s), want %s (%s): %s", a.Verdict.Class, a.Verdict.Confidence, want.class, want.confidence, a.Verdict.Sentence)
			}
			got := ""
			if k := a.Verdict.Culprit; k != nil && k.File != "" {
				got = place(k.File, k.Line)
			}
			if !strings.HasSuffix(got, want.culprit) || (want.culprit == "") != (got == "") {
				t.Errorf("culprit %q, want %q", got, want.culprit)
			}
			checkAnswer(t, a)
		})
	}
}

func answer(t *testing.T, name string) *Answer {
	t.Helper()
	a, err := Explain(scenes[name]().Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// checkAnswer holds what is true of every answer.
func checkAnswer(t *testing.T, a *Answer) {
	t.Helper()
	sum := a.Ledger.UnexplainedBytes
	for _, r := range a.Ledger.Rows {
		sum += int64(r.Bytes)
	}
	if sum != int64(a.Ledger.TotalBytes) {
		t.Errorf("the ledger's rows sum to %d of %d", sum, a.Ledger.TotalBytes)
	}
	ids := map[string]bool{}
	for _, f := range a.Evidence {
		ids[f.ID] = true
	}
	for _, w := range a.Verdict.Why {
		for _, id := range w.Evidence {
			if !ids[id] {
				t.Errorf("%q refers to %s, which is no evidence", w.Text, id)
			}
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for _, path := range nullLists(back, "") {
		t.Errorf("%s is null", path)
	}
	if a.Verdict.Sentence == "" || !strings.HasSuffix(a.Verdict.Sentence, ".") {
		t.Errorf("%q is no sentence", a.Verdict.Sentence)
	}
}

// mayBeNull are the members that product.md allows to be absent.
var mayBeNull = map[string]bool{".outcome.exit_code": true, ".outcome.limit_bytes": true, ".outcome.peak_bytes": true, ".outcome.peak_heap_bytes": true,
	".verdict.culprit": true, ".crash": true, ".trend.low_bytes_per_minute": true, ".trend.high_bytes_per_minute": true,
	".run.footprint": true, ".run.growth": true, ".run.gc_share": true, ".run.footprint.p99_bytes": true, ".run.footprint.p999_bytes": true,
	".run.growth.kept_of_allocated": true, ".run.growth.limit_from_seconds": true, ".run.growth.limit_to_seconds": true}

func nullLists(v any, path string) (out []string) {
	switch v := v.(type) {
	case nil:
		if !mayBeNull[path] {
			out = append(out, path)
		}
	case map[string]any:
		for k, x := range v {
			out = append(out, nullLists(x, path+"."+k)...)
		}
	case []any:
		for _, x := range v {
			out = append(out, nullLists(x, path+"[]")...)
		}
	}
	return out
}

func TestSeveralProcessesAreToldApart(t *testing.T) {
	a := answer(t, "one of several processes leaks")
	if !strings.Contains(a.Verdict.Sentence, "of shop (pid 4711)") {
		t.Errorf("%q does not say which process", a.Verdict.Sentence)
	}
	if p := a.Program.Processes; len(p) != 4 || !p[0].Subject || p[0].Signal != "SIGKILL" || p[1].Bytes != 70*mib || p[1].Subject || p[1].Args != "-part 1" {
		t.Errorf("processes %+v", p)
	}
	c := newCase(quiet["a collector that does not know what the others take"].run().Evidence)
	f := judgeGCUnaware(c)
	if want := "Only 60.0 MiB of the 118 MiB Go heap of shop (pid 4711) was live"; !strings.HasPrefix(f.Sentence, want) {
		t.Errorf("%q, want %q: the others' heaps are not the subject's", f.Sentence, want)
	}
	if !strings.Contains(f.Sentence, "of which other processes used 128 MiB") {
		t.Errorf("%q says nothing of the others", f.Sentence)
	}
}

func TestFixesAreCommandsOfToday(t *testing.T) {
	s := scenes["garbage over the limit"]()
	s.Command = []string{"/srv/shop", "-addr", ":80", "-motd", "it's"}
	s.Load, s.Ready = "./load.sh 3", "8080"
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	setting := a.Fixes[0].Setting
	want := `highwater run --limit 256MiB --ready 8080 --load './load.sh 3' -- env ` + setting + ` /srv/shop -addr :80 -motd 'it'\''s'`
	if got := a.Fixes[0].Command; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	s = scenes["leak"]()
	s.Command = []string{"./shop", "-v"}
	a, _ = Explain(s.Evidence, nil)
	if got, want := a.Fixes[0].Command, "highwater run --limit 256MiB -- ./shop -v"; got != want {
		t.Errorf("%s\nwant %s: a program that is not there cannot be run", got, want)
	}
	s.Command = []string{"sh", "-c", "./migrate && ./shop"}
	a, _ = Explain(s.Evidence, nil)
	if got, want := a.Fixes[0].Command, "highwater run --limit 256MiB -- sh -c './migrate && ./shop'"; got != want {
		t.Errorf("%s\nwant %s: the shell is not the program to change", got, want)
	}
	for name := range scenes {
		for _, f := range answer(t, name).Fixes {
			if strings.Contains(f.Command, "highwater try") {
				t.Errorf("%s: %s: there is no such command", name, f.Command)
			}
		}
	}
}

func TestWhatCouldNotBeReadIsNotRuledOut(t *testing.T) {
	a := answer(t, "a stripped program")
	for _, r := range a.RuledOut {
		if r.Class != PageCache && r.Class != Shmem {
			t.Errorf("%s is ruled out, though the runtime was not read", r.Class)
		}
	}
	if text := strings.Join(a.Verdict.NotKnown, "; "); !strings.Contains(text, "without -ldflags=-s") {
		t.Errorf("%q does not say what to do", text)
	}
	if len(a.Gaps) != 1 || a.Gaps[0].What != "the heap profile and the Go runtime of shop" {
		t.Errorf("gaps %+v: one reason is one gap", a.Gaps)
	}
}

type seen struct {
	n   int
	err error
}

func (s seen) Seen(string) (int, error) { return s.n, s.err }

func TestHistorySaysHowOftenACauseWasSeen(t *testing.T) {
	a, err := Explain(scenes["leak"]().Evidence, seen{n: 3})
	if err != nil || a.Verdict.Seen != 3 {
		t.Errorf("seen %d, %v, want 3", a.Verdict.Seen, err)
	}
	if _, err := Explain(scenes["leak"]().Evidence, seen{err: errors.New("disk")}); err == nil {
		t.Error("a history that cannot be read is not reported")
	}
}

func TestAFingerprintOutlivesLinesMachinesAndLoads(t *testing.T) {
	one := scenes["leak"]()
	other := scenes["leak"]()
	other.Sites[0].Line, other.Sites[0].File, other.Sites[0].Bytes = 99, "/other/cache.go", 180*mib
	other.Recording = "shop-77.hwm"
	a, _ := Explain(one.Evidence, nil)
	b, _ := Explain(other.Evidence, nil)
	if a.Verdict.Fingerprint == "" || a.Verdict.Fingerprint != b.Verdict.Fingerprint {
		t.Errorf("fingerprints %q and %q", a.Verdict.Fingerprint, b.Verdict.Fingerprint)
	}
	other.Sites[0].Function = "example.org/shop/cache.(*Cache).Get"
	c, _ := Explain(other.Evidence, nil)
	if c.Verdict.Fingerprint == a.Verdict.Fingerprint {
		t.Error("two functions have one fingerprint")
	}
}
