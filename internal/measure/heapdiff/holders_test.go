package heapdiff

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// cacheHeap is a capture of a cache whose small parts were left out, and a goroutine.
var cacheHeap = &sample.HeapCapture{At: time.Unix(1000, 0), LiveBytes: 11 << 20, Paths: []sample.HeapPath{
	{Parent: -1, Label: "main.cache", Type: "?", Held: 3001, Retained: 10 << 20},
	{Parent: -1, Label: "goroutine main.wait", Type: "?", Objects: 1, Bytes: 1 << 20, Held: 1, Retained: 1 << 20, Holder: true},
	{Parent: 0, Label: ".entries[]", Type: "main.entry", Objects: 1000, Bytes: 1 << 20, Held: 3000, Retained: 9 << 20},
	{Parent: 2, Label: ".body", Type: "[]uint8", Objects: 1000, Bytes: 7 << 20, Held: 1000, Retained: 7 << 20, Holder: true},
}}

func TestHoldersArePathsAsStacksAndSumToWhatIsLive(t *testing.T) {
	p := HoldersToPprof(cacheHeap, sample.Program{Exe: "/bin/server"}, "a comment")
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.Write(&file); err != nil {
		t.Fatal(err)
	}
	got, err := profile.Parse(&file)
	if err != nil {
		t.Fatal(err)
	}
	stacks, sum := map[string]int64{}, int64(0)
	for _, s := range got.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		stacks[strings.Join(names, " < ")] = s.Value[1]
		sum += s.Value[1]
	}
	want := map[string]int64{
		"main.cache":                        1 << 20,
		"main.cache.entries[] < main.cache": 2 << 20, // keys, which were left out
		"goroutine main.wait":               1 << 20,
		"main.cache.entries[].body < main.cache.entries[] < main.cache": 7 << 20,
	}
	for stack, n := range want {
		if stacks[stack] != n {
			t.Errorf("%s: %d bytes, want %d", stack, stacks[stack], n)
		}
	}
	if len(stacks) != len(want) || sum != int64(cacheHeap.LiveBytes) {
		t.Errorf("%d bytes in %v", sum, stacks)
	}
}

func TestGoToolPprofDrawsTheHolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "holders.pb.gz")
	file, err := os.Create(path)
	if err == nil {
		err = HoldersToPprof(cacheHeap, sample.Program{Exe: "/bin/server"}).Write(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	cmd := exec.Command("go", "tool", "pprof", "-top", "-cum", path)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	text, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(text), "inuse_space") {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, line := range []string{"1MB  9.09%", "10MB 90.91%  main.cache\n", "7MB 63.64%  main.cache.entries[].body\n"} {
		if !strings.Contains(string(text), line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}
