package gomem_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// launchHost starts a program that opens a plugin when it is asked to.
func launchHost(t *testing.T, o hwtest.BuildOptions) *target {
	t.Helper()
	dir := filepath.Join("testdata", "plugins")
	o.CGO = true
	host := hwtest.Build(t, dir, o)
	o.Mode = "plugin"
	plugin := hwtest.Build(t, filepath.Join(dir, "plugin"), o)
	p := launch(t, host, "PLUGIN="+plugin)
	p.ask("gc")
	p.attach()
	return p
}

// open has the program open its plugin.
func (p *target) open() {
	p.t.Helper()
	if lines := append(p.ask("open"), p.ask("gc")...); len(lines) > 0 {
		p.t.Fatal(lines)
	}
}

// TestAPluginIsNamedAsTheProgramNamesIt opens a plugin when the program has been
// read already, and compares its allocations with the program's own heap profile:
// counts, functions, files and lines, inlined ones too.
func TestAPluginIsNamedAsTheProgramNamesIt(t *testing.T) {
	for _, o := range hwtest.Matrix([]hwtest.BuildOptions{
		{Toolchain: "go1.20.14"}, {Toolchain: "go1.24.13"}, {Toolchain: "go1.26.8"}, {Toolchain: "go1.26.8", PIE: true}, {Toolchain: "go1.27.2"},
		{Toolchain: "go1.27.2", Strip: true},
	}) {
		t.Run(fmt.Sprintf("%s pie %v stripped %v", o.Toolchain, o.PIE, o.Strip), func(t *testing.T) {
			p := launchHost(t, o)
			if published, _ := p.seenProfile(); len(published) == 0 {
				t.Fatal("the program has no heap profile")
			}
			p.open()
			if got, want := p.seenInPlugin(), p.ask("profile"); !slices.Equal(got, want) || len(want) < 4 {
				t.Errorf("the program says\n%s\nread was\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
			}
			if err := p.runtime.Why(gomem.FeaturePlugins); err != nil {
				t.Error(err)
			}
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			p.waitsInPlugin()
			if live := p.live(); live.Bytes < 32<<20 {
				t.Errorf("%d bytes are live, 32 MiB are in a variable of the plugin", live.Bytes)
			}
		})
	}
}

// seenInPlugin is the heap profile as testdata/plugins prints it.
func (p *target) seenInPlugin() (lines []string) {
	p.t.Helper()
	var prof sample.HeapProfile
	if err := p.stats.Profile(&prof); err != nil {
		p.t.Fatal(err)
	}
	symbols := p.bin.Symbolizer(p.bias)
	for i, b := range p.stats.Buckets(0) {
		line := fmt.Sprint(prof.Counts[i].PubAllocs)
		for _, loc := range symbols.Site(b).Stack {
			for _, f := range loc.Frames {
				line += fmt.Sprintf(" %s=%s:%d", withoutTypes(f.Func), f.File, f.Line)
			}
		}
		if strings.Contains(line, "plugin.go") && prof.Counts[i].PubAllocs > 0 {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// withoutTypes writes type arguments as runtime.Frame does.
func withoutTypes(name string) string {
	if before, rest, ok := strings.Cut(name, "["); ok {
		return before + "[...]" + rest[strings.LastIndex(rest, "]")+1:]
	}
	return name
}

// waitsInPlugin wants the goroutine that waits in the plugin with all its frames.
func (p *target) waitsInPlugin() {
	p.t.Helper()
	groups, err := p.stats.Goroutines()
	if err != nil {
		p.t.Fatal(err)
	}
	p.bin.Symbolizer(p.bias).Goroutines(groups)
	for _, g := range groups {
		for i, loc := range g.Where {
			if len(loc.Frames) == 0 || !strings.HasSuffix(loc.Frames[0].Func, ".wait") || g.Reason != "chan receive" {
				continue
			}
			f := loc.Frames[0]
			creator := g.CreatedAt.Frames
			if filepath.Base(f.File) != "plugin.go" || f.Line != 33 || len(creator) == 0 || !strings.HasSuffix(creator[0].Func, ".Start") || i != len(g.Where)-2 {
				p.t.Errorf("it waits at %+v, was created at %+v", g.Where, g.CreatedAt)
			}
			return
		}
	}
	p.t.Errorf("no goroutine waits in the plugin: %+v", groups)
}

func TestAListOfModulesWithoutAnEndIsRefused(t *testing.T) {
	p := start(t, newest)
	layout, err := p.bin.Layout()
	if err != nil {
		t.Fatal(err)
	}
	first, _ := p.bin.Symbol("runtime.firstmoduledata")
	next, _ := layout.Offset("runtime.moduledata", "next")
	circle := overlay{p.mem, int64(first + p.bias + next), first + p.bias}
	rt, err := gomem.Attach(circle, p.bin, p.bias)
	if err != nil {
		t.Fatal(err)
	}
	stats := gostats.New(rt)
	if _, err := stats.Goroutines(); err == nil {
		t.Error("goroutines are read")
	}
	if _, err := goheap.New(rt).LiveObjects(t.Context(), stats); err == nil {
		t.Error("live objects are found")
	}
	if err := stats.Counters(new(sample.Runtime)); err != nil {
		t.Error(err)
	}
}
