package gobin

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin/signature"
)

// needed are the variables without which something of Highwater does not work.
var needed = strings.Fields(`
	mbuckets bbuckets xbuckets buckhash mProfCycle MemProfileRate disableMemoryProfiling
	mheap_ memstats gcController work sched gcBlackenEnabled writeBarrier gcphase
	persistentChunks gcBitsArenas stackpool stackLarge allgs allglen allgptr allm allp allfin fingStatus
	waitReasonStrings firstmoduledata ticks blockprofilerate mutexprofilerate debug iscgo
`)

// matrix is every minor version of Go, and in make matrix each way of linking it. Of every
// release its first or its second way is read in make test, too.
var matrix = hwtest.Matrix([]probe{
	{toolchain: "go1.20.14"}, {toolchain: "go1.20.14", flags: "-buildmode=pie"},
	{toolchain: "go1.21.13"}, {toolchain: "go1.21.13", flags: "-buildmode=pie"},
	{toolchain: "go1.22.12"}, {toolchain: "go1.22.12", flags: "-buildmode=pie"},
	{toolchain: "go1.23.12"}, {toolchain: "go1.23.12", flags: "-buildmode=pie"},
	{toolchain: "go1.24.13"}, {toolchain: "go1.24.13", flags: "-buildmode=pie"},
	{toolchain: "go1.25.7"}, {toolchain: "go1.25.7", flags: "-buildmode=pie"},
	{toolchain: "go1.26.8"}, {toolchain: "go1.26.8", flags: "-buildmode=pie"},
	{toolchain: "go1.27.2"}, {toolchain: "go1.27.2", flags: "-buildmode=pie"},

	{toolchain: "go1.22.12", cgo: true, ldflags: "-linkmode=external"},
	{toolchain: "go1.26.8", cgo: true},
	{toolchain: "go1.26.8", cgo: true, ldflags: "-linkmode=external"},
	{toolchain: "go1.27.2", cgo: true, ldflags: "-linkmode=external", flags: "-buildmode=pie"},
	{toolchain: "go1.26.8", cgo: true, flags: "-race"},
	{toolchain: "go1.26.8", env: "GOFLAGS='-gcflags=all=-N -l'"},
	{toolchain: "go1.26.8", flags: "-trimpath"},
	{toolchain: "go1.26.8", flags: "-pgo=cpu.pprof"},
	{toolchain: "go1.26.8", env: "GOAMD64=v3"},
	{toolchain: "go1.26.8", env: "GOEXPERIMENT=nogreenteagc"},

	{toolchain: "go1.22.0"}, {toolchain: "go1.24.0"}, {toolchain: "go1.26.0"}, {toolchain: "go1.27.0"},
	{toolchain: "go1.24.3"}, {toolchain: "go1.24.8", flags: "-buildmode=pie"}, // in no table
}, 3, 4, 7, 8, 11, 12, 15, 19)

func TestVariablesOfStrippedProgramsAreThoseOfTheirSymbols(t *testing.T) {
	for _, p := range matrix {
		t.Run(p.String(), func(t *testing.T) {
			exe := p.build(t)
			want := open(t, exe)
			if want.FoundBy != "symbols" {
				t.Fatalf("found by %q", want.FoundBy)
			}
			for name, twin := range map[string]string{"stripped": strip(t, exe), "without sections": withoutSections(t, strip(t, exe))} {
				b := open(t, twin)
				compareVariables(t, name, b, want)
				compareFunctions(t, name, b, want)
				if b.HasSymbols || b.GoVersion != want.GoVersion || b.BuildID != want.BuildID || b.CGO != want.CGO || b.PIE != want.PIE {
					t.Errorf("%s: symbols %v, version %s, build ID %s, cgo %v, PIE %v", name, b.HasSymbols, b.GoVersion, b.BuildID, b.CGO, b.PIE)
				}
			}
		})
	}
}

// compareVariables wants all that is needed but a few, and nothing that the symbols
// do not say.
func compareVariables(t *testing.T, name string, b, want *Binary, but ...string) {
	t.Helper()
	if err := b.Supported(); err != nil {
		t.Fatalf("%s: refused: %v", name, err)
	}
	t.Logf("%s: %s, refused %v", name, b.FoundBy, b.refused)
	for variable, addr := range b.symbols {
		if want.symbols[variable] != addr {
			t.Errorf("%s: %s at %#x, the symbol says %#x", name, variable, addr, want.symbols[variable])
		}
	}
	for _, v := range needed {
		if _, ok := want.symbols["runtime."+v]; !ok || slices.Contains(but, v) {
			continue // not in this program, or not needed
		}
		if _, err := b.Locate("runtime." + v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func compareFunctions(t *testing.T, name string, b, want *Binary) {
	t.Helper()
	n := 0
	for pc := want.module.text; pc < want.module.etext; pc += 4099 {
		f1, ok1 := b.FuncAt(pc)
		f2, ok2 := want.FuncAt(pc)
		if ok1 != ok2 || ok1 && f1.Name() != f2.Name() {
			t.Errorf("%s: %s at %#x, with symbols %s", name, f1.Name(), pc, f2.Name())
		}
		n++
	}
	if n < 100 {
		t.Errorf("%s: compared %d functions", name, n)
	}
}

// withoutSymbols is strip for files of another architecture, which not every strip
// reads: it renames the symbol table's type to that of an unknown one.
func withoutSymbols(t testing.TB, exe string) string {
	t.Helper()
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	sections, n := binary.LittleEndian.Uint64(data[40:]), uint64(binary.LittleEndian.Uint16(data[60:]))
	for s := range n {
		typ := data[sections+64*s+4:]
		if elf.SectionType(binary.LittleEndian.Uint32(typ)) == elf.SHT_SYMTAB {
			binary.LittleEndian.PutUint32(typ, uint32(elf.SHT_LOUSER))
		}
	}
	out := filepath.Join(t.TempDir(), "symbolless")
	if err := os.WriteFile(out, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return out
}

// strip takes symbols and debug information off a copy, as -ldflags="-s -w" does.
func strip(t testing.TB, exe string) string {
	t.Helper()
	hwtest.Need(t, hwtest.Program("strip"))
	out := filepath.Join(t.TempDir(), "stripped")
	if msg, err := exec.Command("strip", "-o", out, exe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return out
}

// withoutSections blanks e_shoff, e_shnum and e_shstrndx in a copy.
func withoutSections(t testing.TB, exe string) string {
	t.Helper()
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(data[40:], 0)
	binary.LittleEndian.PutUint32(data[60:], 0)
	out := filepath.Join(t.TempDir(), "sectionless")
	if err := os.WriteFile(out, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return out
}

// The signatures of another patch of the same minor version find the same.
func TestSignaturesOfAnotherPatchFindTheSameVariables(t *testing.T) {
	type another struct {
		p            probe
		minor, patch int // whose signatures
	}
	for _, c := range hwtest.Matrix([]another{
		{probe{toolchain: "go1.20.14"}, 20, 0},
		{probe{toolchain: "go1.22.0"}, 22, 12},
		{probe{toolchain: "go1.22.12"}, 22, 0},
		{probe{toolchain: "go1.24.0"}, 24, 13},
		{probe{toolchain: "go1.24.13"}, 24, 0},
		{probe{toolchain: "go1.25.7"}, 25, 0},
		{probe{toolchain: "go1.26.0"}, 26, 8},
		{probe{toolchain: "go1.26.8"}, 26, 0},
		{probe{toolchain: "go1.27.0"}, 27, 2},
	}, 2, 4, 5, 7) { // by releases that other tests build with
		t.Run(c.p.String(), func(t *testing.T) {
			want := open(t, c.p.build(t))
			b := electAgain(t, want, c.minor, c.patch)
			compareVariables(t, b.FoundBy, b, want, "mutexprofilerate") // too few sites
		})
	}
}

// Highwater does not use another minor version's signatures. If it did, what is
// needed would be found or refused, never wrong; of other variables a few are wrong
// (runtime.sweep of 1.22 by 1.20's, runtime.ncpu of 1.25 by 1.24's).
func TestSignaturesOfAnotherMinorVersionAreRefusedWhereTheyAreWrong(t *testing.T) {
	for _, c := range []struct {
		p            probe
		minor, patch int
	}{
		{probe{toolchain: "go1.22.12"}, 20, 14},
		{probe{toolchain: "go1.25.7"}, 24, 13},
		{probe{toolchain: "go1.26.8"}, 25, 7},
		{probe{toolchain: "go1.27.2"}, 26, 8},
		{probe{toolchain: "go1.24.13"}, 27, 2},
	} {
		t.Run(c.p.String(), func(t *testing.T) {
			want := open(t, c.p.build(t))
			b := electAgain(t, want, c.minor, c.patch)
			right := 0
			for _, v := range needed {
				switch addr, ok := b.symbols["runtime."+v]; {
				case ok && addr != want.symbols["runtime."+v]:
					t.Errorf("%s at %#x, the symbol says %#x", v, addr, want.symbols["runtime."+v])
				case ok:
					right++
				}
			}
			t.Logf("%s: %d right, refused %v", b.FoundBy, right, b.refused)
		})
	}
}

// electAgain finds the variables of an open program by the signatures of a
// toolchain.
func electAgain(t *testing.T, want *Binary, minor, patch int) *Binary {
	t.Helper()
	set, ok := signature.Find("amd64", minor, patch, "-")
	if !ok {
		t.Fatal("no signatures")
	}
	b := &Binary{file: want.file, Arch: want.Arch, segments: want.segments, module: want.module, table: want.table}
	if err := b.elect(set); err != nil {
		t.Fatal(err)
	}
	return b
}

// Every toolchain whose structs are known has signatures of its own: a new one is
// added to both tables.
func TestEveryToolchainOfTheLayoutsHasSignatures(t *testing.T) {
	for _, tc := range toolchains() {
		set, ok := signature.Find(tc.arch, tc.minor, tc.patch, tc.experiments)
		switch {
		case ok && set.Exact:
		case tc.arch == "arm64" && tc.experiments != "-": // refused by name
		case tc.arch == "arm64" && ok: // by another patch's
		default:
			t.Errorf("go1.%d.%d %s %s has none", tc.minor, tc.patch, tc.experiments, tc.arch)
		}
	}
}
