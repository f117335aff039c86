package watch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// targetLibrary is gomem's, as a library.
func targetLibrary(t *testing.T) string {
	return hwtest.Build(t, "../../eyes/gomem/testdata/target", hwtest.BuildOptions{Mode: "c-shared", Tags: "library", Strip: true})
}

func TestTheGoRuntimeOfAProgramInCIsOpened(t *testing.T) {
	t.Parallel()
	p := hwtest.StartPiped(t, exec.Command(hwtest.LibraryHost(t), targetLibrary(t)))
	p.Ask("big %d", 64<<20)
	found, err := OpenGo("/proc", p.PID)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	rt, err := gomem.Attach(found.Memory, found.Binary, found.Bias)
	if err != nil {
		t.Fatal(err)
	}
	var figures sample.Runtime
	if err := gostats.New(rt).Counters(&figures); err != nil || figures.HeapLive < 64*sample.MiB {
		t.Errorf("its heap is %d, %v", figures.HeapLive, err)
	}
	if found.Library != "target" || len(found.Others) > 0 || found.Program.Name != "host" {
		t.Errorf("found %+v", found)
	}
}

func TestTheFinderOfAllFindsAProgramInCOnceItHasLoadedAGoLibrary(t *testing.T) {
	t.Parallel()
	p := hwtest.StartPiped(t, exec.Command(hwtest.LibraryHost(t), targetLibrary(t), "later"))
	finder := Finder{AllGo: true}
	finds := func() bool {
		pids, err := finder.Find()
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(pids, p.PID)
	}
	await(t, func() bool {
		libraries, err := new(procfs.Mapper).Libraries("/proc", p.PID)
		return err == nil && len(libraries) > 1 // the loader and libc
	})
	if finds() {
		t.Fatal("it has no Go library yet")
	}
	p.In.Write([]byte("\n"))
	p.Ask("gc")
	await(t, finds)
}

// A Go program's own runtime is read, and of the library's it is said what it takes.
func TestASecondGoRuntimeIsAGapThatSaysWhatItTakes(t *testing.T) {
	t.Parallel()
	two := hwtest.Build(t, "testdata/two", hwtest.BuildOptions{CGO: true})
	p := hwtest.StartPiped(t, exec.Command(two, targetLibrary(t)))
	p.Ask("big %d", 64<<20)
	p.Ask("gc")
	found, err := OpenGo("/proc", p.PID)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if found.Library != "" || len(found.Others) != 1 || found.Others[0] != "target" {
		t.Errorf("library %q, others %q", found.Library, found.Others)
	}
	k := &kept{}
	k.onPoint = func(*sample.Point) {
		if len(k.moments) > 0 {
			p.In.Close()
		}
	}
	attachTo(t, p.PID, Options{}, nil).watch(t, t.Context(), k)
	end := k.death(k.programs[0].Key)
	if end == nil || end.Go == nil || end.Go.HeapLive < 8*sample.MiB || end.Go.HeapLive > 32*sample.MiB {
		t.Errorf("the program's own figures: %+v", end)
	}
	var said []string // with the 16.5 MiB that the target keeps by itself
	for _, g := range k.gaps {
		if strings.HasPrefix(g.What, "the Go runtime of target in two") {
			said = append(said, g.Why)
		}
	}
	if len(said) != 2 || !strings.Contains(said[0], ", 80.") || !strings.Contains(said[1], ", 80.") {
		t.Errorf("said %q; gaps:\n%s", said, k.gapText())
	}
}
