package gobin

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// plain is the build that tests of single facts use.
var plain = probe{toolchain: "go1.26.8"}

func TestAProgramSaysHowItWasBuilt(t *testing.T) {
	eachProbe(t, func(t *testing.T, exe string, b *Binary) {
		version := strings.Fields(t.Name()[strings.IndexByte(t.Name(), '/')+1:])[0]
		version, _, _ = strings.Cut(version, "_")
		pie, cgo := strings.Contains(t.Name(), "pie"), strings.Contains(t.Name(), "cgo")
		if b.GoVersion != version || b.Arch != "amd64" || b.PIE != pie || b.CGO != cgo || !b.HasSymbols {
			t.Errorf("got %s %s PIE %v CGO %v symbols %v", b.GoVersion, b.Arch, b.PIE, b.CGO, b.HasSymbols)
		}
		if b.MainPackage != "example.com/probe" || b.Module.Path != "example.com/probe" || len(b.Experiments) != 0 {
			t.Errorf("got main package %q, module %v, experiments %q", b.MainPackage, b.Module, b.Experiments)
		}
		if id := goTool(t, "buildid", exe); b.BuildID != id {
			t.Errorf("build ID %q, go tool buildid says %q", b.BuildID, id)
		}
		if err := b.Supported(); err != nil {
			t.Errorf("refused: %v", err)
		}
	})
}

func TestSymbolsLieWhereTheLinkerSays(t *testing.T) {
	eachProbe(t, func(t *testing.T, exe string, b *Binary) {
		listed := map[string]uint64{}
		for line := range strings.Lines(goTool(t, "nm", exe)) {
			if w := strings.Fields(line); len(w) == 3 {
				listed[w[2]] = hexNumber(t, "0x"+w[0])
			}
		}
		for _, name := range []string{
			"runtime.mbuckets", "runtime.mProfCycle", "runtime.MemProfileRate", "runtime.disableMemoryProfiling",
			"runtime.mheap_", "runtime.memstats", "runtime.gcController", "runtime.work", "runtime.sched",
			"runtime.allglen", "runtime.allgptr", "runtime.allp", "runtime.waitReasonStrings", "runtime.gcphase",
			"runtime.firstmoduledata", "runtime.text", "runtime.etext",
		} {
			got, ok := b.Symbol(name)
			if want := listed[name]; !ok || got != want {
				t.Errorf("%s: %#x, %v; go tool nm says %#x", name, got, ok, want)
			}
		}
		if _, ok := b.Symbol("runtime.mallocgc"); ok {
			t.Error("a function is no variable")
		}
	})
}

func goTool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"tool"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestWhatIsNoGoProgramIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	packed := "\x7fELF" + strings.Repeat("\x00", 200) + "UPX!" + strings.Repeat("\x00", 200)
	for _, c := range []struct {
		path string
		want error
		text string
	}{
		{write("script", "#! /bin/sh -e\nexit 0\n"), ErrScript, `script: a script, not an executable: "/bin/sh -e" runs it`},
		{write("text", "hello"), ErrNotELF, "not a Linux executable"},
		{write("empty", ""), ErrNotELF, "not a Linux executable"},
		{write("cut", "\x7fELF\x02\x01\x01"), ErrNotELF, "not a Linux executable"},
		{write("packed", packed), ErrPacked, "upx -d"},
		{"/proc/self/maps-of-nobody", os.ErrNotExist, "no such file"},
		{"/bin/true", ErrNotGo, "not a Go program"},
		{dir, errors.ErrUnsupported, "not a regular file"},
	} {
		b, err := Open(c.path)
		if b != nil || err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v", c.path, err)
		}
		if c.path != dir && !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.path, err, c.want)
		}
	}
}

// What cannot be read fully still says how it was built.
func TestWhatIsUnsupportedIsRefusedByNameAndKeepsItsBuildInfo(t *testing.T) {
	original, err := os.ReadFile(plain.build(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, old, new string // bytes replaced in the file
		want           error
		text           string
	}{
		{"too old", "go1.26.8", "go1.19.2", ErrUnsupportedVersion, "built by go1.19.2: Highwater reads Go 1.20 to 1.27"},
		{"too new", "go1.26.8", "go1.99.1", ErrUnsupportedVersion, "built by go1.99.1: Highwater reads Go 1.20 to 1.27"},
		{"candidate", "go1.26.8", "go1.27r2", ErrUnsupportedVersion, "built by go1.27r2, which is no release of Go: Highwater reads"},
		{"build mode", "build\t-buildmode=exe", "build\t-buildmode=dll", ErrBuildMode, "built with -buildmode=dll"},
		{"architecture", "build\tGOARCH=amd64", "build\tGOARCH=arm64", ErrArch, "built for linux/arm64: Highwater reads linux/amd64"},
		{"system", "build\tGOOS=linux", "build\tGOOS=plan9", ErrArch, "built for plan9/amd64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			patched := bytes.ReplaceAll(original, []byte(c.old), []byte(c.new))
			b := openBytes(t, patched)
			refused(t, b, c.want, c.text)
		})
	}
}

// Other toolchains for Go leave no build information, or say who they are in it.
func TestOtherToolchainsAreNamed(t *testing.T) {
	exe, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	for _, c := range []struct {
		name string
		b    *Binary
		want error
	}{
		{"garble", &Binary{Arch: "amd64", GoVersion: "unknown"}, ErrObfuscated},
		{"gccgo", &Binary{Arch: "amd64", GoVersion: "go1.26.8", Settings: map[string]string{"-compiler": "gccgo"}}, ErrGccgo},
		{"linkshared", &Binary{Arch: "amd64", GoVersion: "go1.26.8", Settings: map[string]string{"-linkshared": "true"}}, ErrBuildMode},
		{"plugin", &Binary{Arch: "amd64", GoVersion: "go1.26.8", Settings: map[string]string{"-buildmode": "plugin"}}, ErrBuildMode},
		{"shared", &Binary{Arch: "amd64", GoVersion: "go1.26.8", Settings: map[string]string{"-buildmode": "shared"}}, ErrBuildMode},
		{"32 bits", &Binary{Arch: "386", GoVersion: "go1.26.8"}, ErrArch},
	} {
		if err := c.b.checkSupported(exe); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	tiny := Binary{strtab: []byte("\x00main\x00tinygo_startTask\x00")}
	if err := tiny.foreign(exe); err != ErrTinyGo {
		t.Errorf("TinyGo: got %v", err)
	}
	if err := new(Binary).foreign(exe); err != ErrNotGo {
		t.Errorf("C: got %v", err)
	}
}

func TestBuildInformationIsFoundByItsMark(t *testing.T) {
	real, err := os.ReadFile(plain.build(t))
	if err != nil {
		t.Fatal(err)
	}
	record := real[bytes.LastIndex(real, []byte(buildInfoMagic)):]
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"as it is", record, "go1.26.8"},
		{"behind a mark that is none", append([]byte(buildInfoMagic+strings.Repeat("\x00", 50)), record...), "go1.26.8"},
		{"not aligned", append(make([]byte, 8), record...), ""},
		{"cut", record[:35], ""},
		{"too long", append([]byte(buildInfoMagic+"\x08\x02"+strings.Repeat("\x00", 16)), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), ""},
		{"without modules", []byte(buildInfoMagic + "\x08\x02" + strings.Repeat("\x00", 16) + "\x08go1.26.8\x00"), "go1.26.8"},
		{"of pointers, as up to Go 1.17", []byte(buildInfoMagic + "\x08\x00" + strings.Repeat("\x00", 32)), ""},
	} {
		b := &Binary{file: &mapping{}, segments: []segment{{addr: 0x1000, data: c.data}}}
		info, ok := b.scanBuildInfo()
		if ok != (c.want != "") || ok && info.GoVersion != c.want {
			t.Errorf("%s: got %v, %v", c.name, info, ok)
		}
	}
}

func refused(t *testing.T, b *Binary, want error, text string) {
	t.Helper()
	_, err := b.Layout()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %v", err, want)
	}
	if b.MainPackage != "example.com/probe" || b.BuildID == "" {
		t.Errorf("main package %q, build ID %q", b.MainPackage, b.BuildID)
	}
	if _, ok := b.Symbol("runtime.mheap_"); ok {
		t.Error("a symbol is given")
	}
	if f := b.Frames(nil, 0x401000); len(f) != 0 {
		t.Errorf("frames are given: %v", f)
	}
	if _, ok := b.FuncAt(0x401000); ok {
		t.Error("a function is given")
	}
}

func openBytes(t *testing.T, data []byte) *Binary {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exe")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

func TestVersionsAreTakenApart(t *testing.T) {
	for _, c := range []struct {
		in, version string
		experiments []string
	}{
		{"go1.26.8", "go1.26.8", nil},
		{"go1.25.7 X:greenteagc", "go1.25.7", []string{"greenteagc"}},
		{"go1.26.8-X:nogreenteagc,jsonv2", "go1.26.8", []string{"nogreenteagc", "jsonv2"}},
		{"devel go1.28-1f2e3d4", "devel go1.28-1f2e3d4", nil},
	} {
		version, experiments := splitVersion(c.in)
		if version != c.version || !slices.Equal(experiments, c.experiments) {
			t.Errorf("%s: got %q %q", c.in, version, experiments)
		}
	}
}

func TestAFileCutWhileMappedGivesNothingInsteadOfAFault(t *testing.T) {
	data, err := os.ReadFile(plain.build(t))
	if err != nil {
		t.Fatal(err)
	}
	b := openBytes(t, data)
	text, _ := b.Symbol("runtime.text")
	if len(b.Frames(nil, text+0x1000)) == 0 {
		t.Fatal("no frames before the cut")
	}
	if err := os.Truncate(b.Path, 4096); err != nil {
		t.Fatal(err)
	}
	if f := b.Frames(nil, text+0x2000); len(f) != 0 {
		t.Errorf("got %v", f)
	}
	if _, ok := b.FuncAt(text + 0x2000); ok {
		t.Error("found a function in a file without content")
	}
	if l := b.Locations(nil, []uint64{text + 0x2000}); len(l) != 1 || len(l[0].Frames) != 0 {
		t.Errorf("got %v", l)
	}
}

func TestOwnerIsFoundByPackagePath(t *testing.T) {
	b := &Binary{
		MainPackage: "corp.example/shop/cmd/shop",
		Module:      sample.Module{Path: "corp.example/shop"},
		Deps: []sample.Module{
			{Path: "github.com/nats-io/nats-server/v2"}, {Path: "gopkg.in/yaml.v3"},
			{Path: "cloud.example/go"}, {Path: "cloud.example/go/storage"},
		},
	}
	for name, want := range map[string]Owner{
		"main.main":                             {OwnModule, "corp.example/shop/cmd/shop", "corp.example/shop"},
		"main.(*T[...]).M.func1":                {OwnModule, "corp.example/shop/cmd/shop", "corp.example/shop"},
		"corp.example/shop/internal/cart.New":   {OwnModule, "corp.example/shop/internal/cart", "corp.example/shop"},
		"corp.example/shopping.New":             {Dependency, "corp.example/shopping", ""},
		"gopkg.in/yaml%2ev3.(*Decoder).Decode":  {Dependency, "gopkg.in/yaml.v3", "gopkg.in/yaml.v3"},
		"cloud.example/go/storage/x.F":          {Dependency, "cloud.example/go/storage/x", "cloud.example/go/storage"},
		"net/http.(*conn).serve":                {Standard, "net/http", ""},
		"runtime.goexit":                        {Standard, "runtime", ""},
		"slices.Grow[go.shape.[]a/b.c]":         {Standard, "slices", ""},
		"vendor/golang.org/x/net/http2.f":       {Standard, "vendor/golang.org/x/net/http2", ""},
		"gosave_systemstack_switch":             {Standard, "", ""},
		"type:.eq.gopkg.in/yaml%2ev3.node":      {Dependency, "gopkg.in/yaml.v3", "gopkg.in/yaml.v3"},
		"github.com/nats-io/nats-server/v2/x.F": {Dependency, "github.com/nats-io/nats-server/v2/x", "github.com/nats-io/nats-server/v2"},
		"":                                      {Standard, "", ""},
	} {
		if got := b.Owner(name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
