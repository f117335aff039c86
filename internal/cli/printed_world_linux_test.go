package cli_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// printedWorld is what all folders have.
type printedWorld struct {
	tool, bin, store string // bin has all programs
	kept             []byte // a recording: killed, with captures of its heap and a proof
}

func newPrintedWorld(t *testing.T) *printedWorld {
	t.Helper()
	kept := hwtest.Unzipped(t, "testdata/sessions.hwm.gz")
	w := &printedWorld{tool: highwater(t), bin: t.TempDir(), store: fleetOf(t), kept: kept}
	text, err := os.ReadFile(hwtest.Build(t, "testdata/anything", hwtest.BuildOptions{}))
	if err == nil {
		err = os.WriteFile(filepath.Join(w.bin, "anything"), text, 0o755)
	}
	deployIn(t, w.store)
	if err == nil { // what the incident's row leads to
		err = os.WriteFile(filepath.Join(strings.TrimPrefix(w.store, "file://"), "kill.hwm"), kept, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// deployIn adds processes of checkout to a store: six of v1, then six of v2, for a day each.
func deployIn(t *testing.T, address string) {
	t.Helper()
	s, err := fleet.Open(address, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := time.Now().UTC().Truncate(time.Hour).Add(-50 * time.Hour)
	var points []fleet.Point
	var hours []fleet.HeapHour
	var processes []fleet.Process
	for n := range 12 {
		id, version, from := fleet.ID{0x20, byte(n)}, "v1", first
		if n >= 6 {
			version, from = "v2", first.Add(24*time.Hour)
		}
		processes = append(processes, fleet.Process{Tenant: "default", Service: "checkout", Process: id, Version: version, Namespace: "prod",
			Pod: fmt.Sprint("checkout-7f9c4-", n), Container: "web", Started: from, HeapProfile: "on", Written: from})
		for h := range 24 {
			at, live := from.Add(time.Duration(h)*time.Hour), uint64(40<<20+n<<18)
			points = append(points, fleet.Point{Tenant: "default", Service: "checkout", Process: id, At: at, Resident: sample.Some(live * 3 / 2),
				UsageMax: sample.Some(live * 2), HeapLive: sample.Some(live), HeapInUse: sample.Some(live * 3 / 2), Limit: sample.Some(uint64(512 << 20)), Written: at})
			hours = append(hours, fleet.HeapHour{Tenant: "default", Service: "checkout", Stack: fleet.AllStacks, Process: id, Hour: at, Version: version,
				InUseSeconds: live * 3600, Seconds: 3600, InUseMax: live, InUseLast: live, Written: at})
		}
	}
	for _, one := range []struct {
		t *fleet.Table
		b []byte
	}{{fleet.Points, fleet.Encode(nil, points...)}, {fleet.HeapHours, fleet.Encode(nil, hours...)}, {fleet.Processes, fleet.Encode(nil, processes...)}} {
		if err := s.Put(t.Context(), one.t, one.b); err != nil {
			t.Fatal(err)
		}
	}
}

// put gives a folder a program of that name, which may be that of a file in another folder.
func (w *printedWorld) put(t *testing.T, dir, name string) {
	t.Helper()
	base := filepath.Join(w.bin, filepath.Base(name))
	if err := os.Link(filepath.Join(w.bin, "anything"), base); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	if err := os.Symlink(base, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
}

// programNames are those that printed commands run.
var programNames = []string{"server", "server-new", "batch", "worker", "load", "load.sh", "native", "leak", "migrate", "demo/sessions", "demo/sessions-load"}

// programOf is what a command runs, "" for none.
func programOf(args []string) string {
	i := slices.Index(args, "--")
	for i++; i > 0 && i < len(args); i++ {
		if args[i] != "env" && !strings.Contains(args[i], "=") {
			return args[i]
		}
	}
	return ""
}

// folder is a working directory in which one command runs.
type folder struct {
	dir string
	env []string
}

func (w *printedWorld) folder(t *testing.T, args []string) folder {
	t.Helper()
	dir := t.TempDir()
	state := filepath.Join(dir, "state", "highwater")
	for _, path := range []string{state, filepath.Join(dir, "recordings"), filepath.Join(dir, "demo"), filepath.Join(dir, "man")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	recordings := []string{"state/highwater/server-3.hwm", "state/highwater/server-4.hwm", "state/highwater/agent-1.hwm", "state/highwater/otheragent-1.hwm",
		"state/highwater/uploads-3.hwm", "from-the-ticket.hwm"}
	for _, word := range args {
		if strings.HasSuffix(word, ".hwm") && !filepath.IsAbs(word) && !slices.Contains(recordings, word) {
			recordings = append(recordings, word)
		}
	}
	if i := slices.IndexFunc(args, func(s string) bool { return s == "-o" || s == "--output" }); i >= 0 && i+1 < len(args) {
		recordings = slices.DeleteFunc(recordings, func(s string) bool { return s == args[i+1] })
	}
	for _, name := range recordings {
		if err := os.WriteFile(filepath.Join(dir, name), w.kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range programNames {
		w.put(t, dir, name)
	}
	if name := programOf(args); strings.HasPrefix(name, "./") {
		w.put(t, dir, name)
	}
	return folder{dir, append(os.Environ(), "PATH="+dir+":"+filepath.Dir(w.tool)+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"HIGHWATER_STORE="+w.store,
		"COLUMNS=100", "BROWSER=true", "DISPLAY=", "ANYTHING_PORT="+portBelow(t), "ANYTHING_FOR="+runTime(args), "HW="+w.tool)}
}

// runTime is how long programs run: short, where there are many runs.
func runTime(args []string) string {
	switch {
	case slices.Contains(args, "--load"):
		return "1m" // it is ended with its load
	case args[0] == "fit" || args[0] == "try":
		return "300ms"
	}
	return "2s"
}

// port is the one of the folder's programs.
func (f folder) port() string {
	for _, pair := range f.env {
		if port, ok := strings.CutPrefix(pair, "ANYTHING_PORT="); ok {
			return port
		}
	}
	return ""
}

// portBelow is a port that nobody listens on, below those that the kernel gives to clients.
func portBelow(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(20000 + rand.IntN(12000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// stand are the values that a printed command has and a folder does not.
var stand = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`\b(8080|18081|18431|7001|6060)\b`), "PORT"},
	{regexp.MustCompile(`^/var/lib/highwater/fleet$|^file:///var/lib/highwater/fleet$`), "STORE"},
	{regexp.MustCompile(`^/recordings/|^recordings/`), "recordings/"},
	{regexp.MustCompile(`^/tmp/|^/usr/local/share/man/`), ""},
	{regexp.MustCompile(`^/bin/`), "./"},
	{regexp.MustCompile(`^~/src/server$`), "."},
	{regexp.MustCompile(`@2m(30s)?$`), "@12s"},
	{regexp.MustCompile(`^cache\.\(\*Cache\)\.Put$|^FUNCTION$`), "(*store).login"},
	{regexp.MustCompile(`^(INCIDENT|3fa9c1d2)$`), "abcdef010203"},
	{regexp.MustCompile(`^SERVICE$`), "checkout"},
	{regexp.MustCompile(`^v1\.41\.0$`), "v1"},
	{regexp.MustCompile(`^v1\.42\.0$`), "v2"},
	{regexp.MustCompile(`^RECORDING$`), "server-3"},
	{regexp.MustCompile(`^DIR$|^pages$`), "man"},
	{regexp.MustCompile(`^every=.*$`), "every=1s"},
	{regexp.MustCompile(`^hw-7c1e(2f)?$`), "hw-db4059"},
	{regexp.MustCompile(`^…$`), "x"},
}

// shorter are flags whose value makes a run long.
var shorter = map[string]string{"--for": "2s", "--every": "300ms", "--runs": "2"}

func (f folder) fill(args []string, store string) (out []string) {
	own := true // of highwater, before the program's arguments
	for i, word := range args {
		if own = own && word != "--"; own && i > 0 && shorter[args[i-1]] != "" {
			word = shorter[args[i-1]]
		}
		if word == "NAME" {
			word = map[bool]string{true: "server", false: "server-3"}[args[0] == "watch"]
		}
		for _, s := range stand {
			word = s.find.ReplaceAllString(word, s.put)
		}
		out = append(out, strings.NewReplacer("PORT", f.port(), "STORE", store).Replace(word))
	}
	return out
}
