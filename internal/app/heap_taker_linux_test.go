package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// startHoard is a program that holds so many elements of a map.
func startHoard(t *testing.T, n string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(hwtest.Build(t, filepath.Join("..", "measure", "heapgraph", "testdata", "hoard"), hwtest.BuildOptions{}), "map")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	io.WriteString(in, n+"\n")
	lines := bufio.NewScanner(out)
	lines.Scan()
	lines.Scan()
	return cmd
}

func TestADeathWithoutTimeLeftIsAGapAndNotACapture(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	cmd := startHoard(t, "1000")
	pid := cmd.Process.Pid
	var said bytes.Buffer
	taker := newHeapTaker(HeapPolicy{Kill: true}, newStatus(&said))
	program := sample.Program{Key: sample.ProcessKey{PID: pid}, Name: "hoard"}
	for _, s := range []lastbreath.Status{{Signal: 9}, {Code: 0}} { // an exit is not captured at all
		taker.dying(program, lastbreath.Death{PID: pid, TID: pid, Status: s, Deadline: time.Now().Add(-time.Second)})
	}
	taker.analyses.Wait()
	if len(taker.done) > 0 || len(taker.gaps) != 1 || !strings.Contains(taker.gaps[0].Why, "no time was left") {
		t.Errorf("%d captures, gaps %+v", len(taker.done), taker.gaps)
	}
	if !strings.Contains(said.String(), "the heap of hoard at its death was not captured") {
		t.Errorf("said %q", said.String())
	}
}

func TestAHeapIsThoughtAboutWhenItsProcessIsGone(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	cmd := startHoard(t, "3000")
	key, err := procfs.KeyOf("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	taker := newHeapTaker(HeapPolicy{Kill: true}, newStatus(io.Discard))
	c, err := taker.copyDying(t.Context(), sample.Program{Key: key, Name: "hoard"}, cmd.Process.Pid, sample.HeapKill)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	a, err := c.analyze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.summarize(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.close()
	if h := heapAnswerOf("hoard", out).Holders; len(h) == 0 || h[0].Path != "main.sessions[].body" || h[0].Retained != 3000*1024 {
		t.Errorf("holders %+v", h)
	}
	if out.Untyped*50 > out.LiveBytes {
		t.Errorf("of %d live bytes the type of %d is not known", out.LiveBytes, out.Untyped)
	}
}

// What is kept of a process reads as the process did, and what is not is an error.
func TestWhatIsKeptOfAMemoryReadsAsItWas(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	cmd := startHoard(t, "10")
	target, err := openLiveHeap(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer target.close()
	arenas, err := target.runtime.Ranges(nil)
	if err != nil {
		t.Fatal(err)
	}
	rodata := int64(0)
	for _, m := range mappingsOf(t, cmd.Process.Pid) {
		if m.FileBacked() && m.Perms[1] != 'w' && m.Perms[2] != 'x' && m.Rss > 0 && rodata == 0 {
			rodata = int64(m.Start)
		}
	}
	before, after := make([]byte, 4096), make([]byte, 4096)
	if _, err := target.memory.ReadAt(before, rodata); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := target.memory.keep(ended, cmd.Process.Pid, arenas); !errors.Is(err, context.Canceled) || target.memory.left != nil {
		t.Errorf("kept beyond its time: %v", err)
	}
	if err := target.memory.keep(t.Context(), cmd.Process.Pid, arenas); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := target.memory.ReadAt(after, rodata); err != nil || !bytes.Equal(before, after) {
		t.Errorf("constants read otherwise: %v", err)
	}
	for _, at := range []int64{0, 1 << 40, -1} {
		if n, err := target.memory.ReadAt(after, at); n > 0 || err == nil {
			t.Errorf("%d bytes at %#x, %v", n, at, err)
		}
	}
	if err := target.memory.ReadPieces(after, [][2]uint64{{uint64(rodata), uint64(rodata) + 4096}}); err == nil {
		t.Error("pieces were read of a process that is gone")
	}
}

func mappingsOf(t *testing.T, pid int) []procfs.Mapping {
	t.Helper()
	var m procfs.Mapper
	all, err := m.Mappings("/proc", pid)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWhyNoHeapWasCapturedIsSaid(t *testing.T) {
	for said, why := range map[string]error{
		"the analysis would take more memory":       gomem.ErrTooLarge,
		"the program ended while its heap was read": fmt.Errorf("the heap's roots: %w", io.EOF),
	} {
		path := filepath.Join(t.TempDir(), "shop.hwm")
		w, err := recording.Create(path, recording.Meta{At: time.Unix(1, 0), CPUs: 1})
		if err != nil {
			t.Fatal(err)
		}
		taker := newHeapTaker(HeapPolicy{every: time.Second}, newStatus(io.Discard))
		taker.gap(sample.Program{Name: "shop"}, "", why)
		if err := errors.Join(taker.keep(w), w.Close()); err != nil {
			t.Fatal(err)
		}
		var exit *ExitError
		err = HeapFlags{}.fromRecording(NewStreams(nil, io.Discard, io.Discard), path)
		if !errors.As(err, &exit) || exit.Code != ExitInconclusive || !strings.Contains(err.Error(), "what retains the heap of shop is not known: "+said) {
			t.Errorf("%v", err)
		}
	}
}

func TestAHeapThatWouldTakeTooMuchIsRefusedBeforeMemoryIsTaken(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	cmd := startHoard(t, "300000")
	key, err := procfs.KeyOf("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	taker := newHeapTaker(HeapPolicy{Peak: true, Kill: true}, newStatus(io.Discard))
	taker.limit = func() sample.Bytes { return sample.MiB }
	p := sample.Program{Key: key, Name: "hoard"}
	for name, take := range map[string]func() error{
		"a living one": func() error {
			_, err := taker.copyLive(p, sample.HeapPeak, variables{read: true})
			return err
		},
		"one that is killed": func() error {
			_, err := taker.copyDying(t.Context(), p, cmd.Process.Pid, sample.HeapKill)
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := take()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, gomem.ErrTooLarge) {
			t.Fatalf("%s: %v, want %v", name, err, gomem.ErrTooLarge)
		}
		if took := sample.Bytes(after.TotalAlloc - before.TotalAlloc); took > 16*sample.MiB {
			t.Errorf("%s: it took %d bytes to refuse a heap of more than 16 MiB", name, took)
		}
	}
}

// failingMemory is the memory of a process of which one word cannot be read any more, after so many reads of it.
type failingMemory struct {
	*lastingMemory
	word  int64
	reads int           // of the word that still succeed
	words map[int64]int // where it is not nil: how often each word was read, and none fails
}

func (m *failingMemory) ReadAt(p []byte, addr int64) (int, error) {
	if m.words != nil && len(p) == 8 {
		m.words[addr]++
	}
	if m.words == nil && addr == m.word && len(p) == 8 {
		if m.reads == 0 {
			return 0, errors.New("this word was lost")
		}
		m.reads--
	}
	return m.lastingMemory.ReadAt(p, addr)
}

// The calls of goroutines that ran at the kill are a part of its heap: where they cannot be read the heap is
// kept, and what is missing is said.
func TestAHeapWhoseRunningGoroutinesCannotBeReadIsKept(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	cmd := startHoard(t, "3000")
	key, err := procfs.KeyOf("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	opened := func(m *failingMemory) *heapCopy {
		target, err := openLiveHeap(key.PID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(target.close)
		m.lastingMemory = target.memory
		if target.runtime, err = gomem.Attach(m, target.bin, target.bias); err != nil {
			t.Fatal(err)
		}
		target.stats, target.heap = gostats.New(target.runtime), goheap.New(target.runtime)
		return &heapCopy{heapTarget: target, reason: sample.HeapKill, key: key}
	}
	taker := newHeapTaker(HeapPolicy{Kill: true}, newStatus(io.Discard))

	// Which word does only that step read last, and how often is it read before? A first copy tells.
	counting := &failingMemory{}
	first := opened(counting)
	counting.words = make(map[int64]int)
	if err := first.take(t.Context(), taker.mostTaken()); err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(counting.words)
	if err := first.copied.Ended(); err != nil {
		t.Fatal(err)
	}
	lost := &failingMemory{}
	for word, n := range counting.words {
		if n > before[word] && before[word] > 0 {
			lost.word, lost.reads = word, before[word]
		}
	}
	if lost.word == 0 {
		t.Fatalf("no word was read again: %d words", len(counting.words))
	}

	allowed := lost.reads
	lost.reads = 1 << 30 // while it is attached to
	c := opened(lost)
	lost.reads = allowed
	if err := taker.copyEnded(t.Context(), c, key.PID); err != nil {
		t.Fatalf("the heap was not kept: %v", err)
	}
	if len(c.gaps) != 1 || !strings.Contains(c.gaps[0].What, "goroutines that ran in hoard") || !strings.Contains(c.gaps[0].Why, "this word was lost") {
		t.Errorf("gaps %+v", c.gaps)
	}
	lost.reads = 1 << 30
	cmd.Process.Kill()
	cmd.Wait()
	a, err := c.analyze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.summarize(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h := heapAnswerOf("hoard", out).Holders; len(h) == 0 || h[0].Path != "main.sessions[].body" || h[0].Retained != 3000*1024 {
		t.Errorf("holders %+v", h)
	}
	if !slices.ContainsFunc(out.Gaps, func(g sample.Gap) bool { return strings.Contains(g.What, "goroutines that ran in hoard") }) {
		t.Errorf("the recording does not say what is missing: %+v", out.Gaps)
	}
}
