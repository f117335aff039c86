package cli_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// private is what the recording of privateRecording says somewhere and a redacted page
// of it must not say anywhere.
var private = []string{"alice", "S3cret", "buildbox", "corp.internal", "dbhost", "10.9.8.7", "48213", "beefcafe", "/srv/", "/opt/", "tenant-77", "of-the-load",
	"of-the-note", "note.cfg"}

// privateRecording has a private word in every place of a recording where one can be.
func privateRecording(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server-1.hwm")
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key := sample.ProcessKey{PID: 48213, Start: 991}
	w, err := recording.Create(path, recording.Meta{At: start, Host: "buildbox.corp.internal", BootID: "boot-S3cret", Kernel: "6.18", CPUs: 2,
		Limit:   sample.Some(256 * sample.MiB),
		Command: []string{"/home/alice/bin/server", "-dir", "/srv/S3cret"}, More: map[string]string{"load": "/home/alice/load of-the-load",
			"metrics": "http://dbhost:9090/m",
			"probe":   "GET http://dbhost:80/", "sentence": "alice/main.go:7 kept it", "unknown": "S3cret", "fingerprint": "hw-123456", "state": "killed"}})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(w.Program(sample.Program{Key: key, Parent: 48200, Name: "server", Exe: "/home/alice/bin/server",
		Args:        []string{"/home/alice/bin/server", "-key", "S3cret", "-dir", "/srv/x"},
		HeapProfile: sample.HeapProfileOn, WhyNot: "the linker of /opt/alice/lib.so switched it off",
		Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.com/server",
			MainPackage: "example.com/server", Revision: "beefcafe", BuildID: "id/1", Arch: "amd64"}}))
	own := sample.Frame{Func: "main.(*store).upload", File: "/home/alice/main.go", Line: 90, StartLine: 80}
	frames := []sample.Frame{{Func: "bytes.growSlice", File: "/opt/go/src/bytes/buffer.go", Line: 249, StartLine: 240}, own}
	stack := []sample.Location{{Address: 0x401000, Frames: frames}, {Address: 0x402000,
		Frames: []sample.Frame{{Func: "example.com/server/web.Serve[go.shape.string]", File: `C:\alice\web\serve.go`, Line: 3, StartLine: 1}}}}
	must(w.Sites(key, 0, []sample.Site{{Stack: stack, Size: 32 << 20}}))
	for _, e := range []sample.Event{
		{Kind: sample.EventStart, Text: "server"}, {Kind: sample.EventReady, Text: "http://dbhost:1/S3cret"},
		{Kind: sample.EventLoadStart, Text: "/home/alice/load of-the-load"},
		{Kind: sample.EventNote, Text: "of-the-note"}, {Kind: sample.EventExec, Text: "/srv/S3cret"}, {Kind: sample.EventSignal, Value: 15, Text: "forwarded"},
		{Kind: "later", Text: "S3cret"},
	} {
		e.At, e.Process = start, key
		must(w.Event(e))
	}
	for _, g := range []sample.Gap{{What: "metrics", Why: "http://dbhost:9090/m: nobody listens at dbhost"},
		{What: "memory of process 48213", Why: "open /home/alice/note.cfg: permission denied"},
		{What: "the machine buildbox", Why: "Get \"http://x\": dial tcp: lookup dbhost on 10.9.8.7:53: no such host"}} {
		g.From, g.Process = start, key
		must(w.Gap(g))
	}
	must(w.Request(sample.Request{Due: start.Add(time.Second), Took: time.Millisecond, Failure: "dial tcp 10.9.8.7:80: connection refused by alice"}))
	for i := range 40 {
		at := start.Add(time.Duration(i) * 100 * time.Millisecond)
		usage := sample.Bytes(i+1) * 6 * sample.MiB
		group := &sample.Cgroup{Usage: usage, Limit: sample.Some(256 * sample.MiB), Stat: &sample.CgroupStat{Anon: usage, Kernel: 0}}
		runtime := &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapLive: usage, HeapInUse: usage, HeapGoal: 2 * usage, HeapMarked: usage / 2,
			TotalAlloc: usage, NumGC: uint32(i), Goroutines: 3, ProfileRate: 524288}
		p := sample.Process{Key: key, Resident: &sample.Resident{Total: usage}, Go: runtime}
		must(w.Point(&sample.Point{At: at, Cgroup: group, Processes: []sample.Process{p}}))
		if i%10 == 9 {
			n := uint64(i/10 + 1)
			m := sample.ProcessMoment{Key: key, Resident: p.Resident, Go: runtime, Incomplete: "the file /home/alice/x of dbhost was not read",
				Profile: &sample.HeapProfile{At: at, Rate: 524288, Counts: []sample.BucketCounts{{PubAllocs: n, NowAllocs: n}}},
				Goroutines: []sample.GoroutineGroup{{State: "waiting", Reason: "select", Stack: []uint64{1}, Where: stack, CreatedAt: stack[0], Count: 3, StackBytes: 8192,
					Labels: []sample.LabelCount{{Key: "tenant", Value: "tenant-77", Count: 3}}}}}
			must(w.Moment(&sample.Moment{At: at, Kind: sample.MomentMax, Cgroup: group, Processes: []sample.ProcessMoment{m}}))
			must(w.HeapCapture(&sample.HeapCapture{At: at, Process: key, Reason: sample.HeapPeak, Objects: 9, LiveObjects: 9, Bytes: usage, LiveBytes: usage,
				Paths: []sample.HeapPath{{Parent: -1, Label: "goroutine main.run in /home/alice/main.go:12", Type: "*main.store", Objects: 9, Bytes: usage, Held: 9,
					Retained: usage, Holder: true,
					Sites: []sample.HeapSite{{At: own, Objects: 9, Bytes: usage}}}},
				Collections: []sample.HeapCollection{{Path: "goroutine main.run in /srv/x.go:1", Kind: "map", Type: "map[string]int", Count: 1, Entries: 5, Room: 8,
					Bytes: 99}},
				Chains: []sample.HeapChain{{Path: "/opt/alice/x.go", Type: "T", Length: 5}},
				Gaps:   []sample.Gap{{What: "types", Why: "open /opt/alice: no such file"}}}))
		}
	}
	must(w.Close())
	return path
}

// decoded is data and everything that is packed in it: base64, gzip, zstd, profiles.
func decoded(t *testing.T, data []byte, depth int) [][]byte {
	t.Helper()
	all := [][]byte{data}
	if depth == 0 {
		return all
	}
	for _, text := range regexp.MustCompile(`[A-Za-z0-9+/]{24,}={0,2}`).FindAll(data, -1) {
		if b, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
			all = append(all, decoded(t, b, depth-1)...)
		}
	}
	if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		if b, err := io.ReadAll(z); err == nil {
			all = append(all, decoded(t, b, depth-1)...)
		}
	}
	if p, err := profile.ParseData(data); err == nil {
		all = append(all, []byte(p.String()))
	}
	for rest := data; ; {
		at := bytes.Index(rest, []byte{0x28, 0xb5, 0x2f, 0xfd})
		if at < 0 {
			return all
		}
		rest = rest[at:]
		if z, err := zstd.NewReader(bytes.NewReader(rest)); err == nil {
			b, _ := io.ReadAll(z) // what follows the frame is not one
			all = append(all, b)
			z.Close()
		}
		rest = rest[4:]
	}
}

// tells fails the test for each word that is anywhere in data.
func tells(t *testing.T, what string, data []byte, words []string) {
	t.Helper()
	for _, layer := range decoded(t, data, 4) {
		for _, word := range words {
			if at := bytes.Index(layer, []byte(word)); at >= 0 {
				t.Errorf("%s tells %q: ...%q", what, word, layer[max(0, at-60):min(len(layer), at+60)])
			}
		}
	}
}

func TestARedactedPageTellsNothingPrivateHoweverItIsPacked(t *testing.T) {
	t.Parallel()
	path := privateRecording(t)
	page := filepath.Join(t.TempDir(), "page.html")
	if out, err := exec.Command(highwater(t), "open", path, "--html", page, "--redact").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	tells(t, "the page", text, private)
	if profiles := profilesIn(t, text); len(profiles) != 1 || !strings.Contains(profiles[0].String(), "main.(*store).upload") {
		t.Errorf("its profile is %v", profiles)
	}
	for _, want := range []string{"main.(*store).upload", "main.go", "web/serve.go"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func profilesIn(t *testing.T, data []byte) (list []*profile.Profile) {
	t.Helper()
	for _, layer := range decoded(t, data, 2) {
		if p, err := profile.ParseData(layer); err == nil && bytes.HasPrefix(layer, []byte{0x1f, 0x8b}) {
			list = append(list, p)
		}
	}
	return list
}

func TestARedactingServerTellsNothingPrivateAtAnyAddress(t *testing.T) {
	t.Parallel()
	path := privateRecording(t)
	state := filepath.Join(t.TempDir(), "highwater")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(state, "alone-1.hwm"), text, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(state, "notes.json"),
			[]byte(`{"schema":"highwater.notes/1","notes":[{"fingerprint":"hw-123456","text":"of-the-note"}]}`), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(state, "broken-1.hwm"), []byte("SQLite format 3\x00 /srv/"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(highwater(t), "open", path, "--redact", "--no-browser")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Dir(state))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	root, _, _ := strings.Cut(strings.TrimSpace(address), "/r/")
	for _, at := range []string{"/", "/api/list", "/diff?before=server-1&after=alone-1", "/api/diff?before=server-1&after=alone-1", "/r/server-1/",
		"/r/server-1/api/overview",
		"/r/server-1/api/timeline?from=0&to=4&steps=100", "/r/server-1/api/instant?at=&from=", "/r/server-1/api/instant?at=peak&from=0s", "/r/server-1/api/held?at=",
		"/r/server-1/api/tuning",
		"/r/server-1/heap.pb.gz", "/r/broken-1/", "/r/broken-1/api/overview", "/r/nobody-1/", "/r/alone-1/api/overview"} {
		answer, err := http.Get(root + at)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || len(body) == 0 {
			t.Errorf("%s: %d bytes, %v", at, len(body), err)
		}
		var header bytes.Buffer
		_ = answer.Header.Write(&header)
		tells(t, at, append(header.Bytes(), body...), append(private, filepath.Dir(path), state))
		tells(t, at, body, private)
	}
}
