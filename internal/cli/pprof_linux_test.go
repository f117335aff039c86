package cli_test

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// TestTheExportedProfileIsTheProgramsOwn compares export --pprof with what the
// program's own runtime/pprof wrote while nothing allocated: sample for sample,
// with values, labels, functions, files, lines, inlined calls and addresses.
func TestTheExportedProfileIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace)
	for i, toolchain := range hwtest.Matrix([]string{"go1.24.13", "go1.25.7", "go1.26.8", "go1.27.2"}) {
		for _, pie := range []bool{i%2 == 1, i%2 == 0} {
			t.Run(fmt.Sprintf("%s, PIE %v", toolchain, pie), func(t *testing.T) {
				if pie == (i%2 == 0) {
					hwtest.LeftToMatrix(t, "links each release both ways")
				}
				hwtest.Need(t, hwtest.Toolchain(toolchain))
				program := hwtest.Build(t, "../aside/testprog/steady", hwtest.BuildOptions{Toolchain: toolchain, PIE: pie})
				own, exported := bothProfiles(t, program)
				compareProfiles(t, exported, own, biasOf(t, program, own))
			})
		}
	}
}

// bothProfiles lets a program without garbage write its own profile, and exports
// the one that was recorded.
func bothProfiles(t *testing.T, program string) (own, exported *profile.Profile) {
	t.Helper()
	dir := t.TempDir()
	ownFile, recorded, out := filepath.Join(dir, "own.pb.gz"), filepath.Join(dir, "steady.hwm"), filepath.Join(dir, "out.pb.gz")
	cmd := exec.Command(highwater(t), "run", "-q", "--profile-rate", "1", "-o", recorded, "--", program, "-garbage", "0", "-live", "16MiB", "-profile", ownFile,
		"-for", "1m")
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "ready"):
			err = cmd.Process.Signal(syscall.SIGUSR1) // passed on
		case line == "profile written":
			err = cmd.Process.Signal(syscall.SIGTERM)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // 143, as it was asked to end
	if text, err := exec.Command(highwater(t), "export", "--pprof", "--view", "published", "--at", "last", "-o", out, recorded).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return readProfile(t, ownFile), readProfile(t, out)
}

func readProfile(t *testing.T, path string) *profile.Profile {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(io.Reader(f))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return p
}

// biasOf is by how much a process's addresses, which its own profile has, differ
// from those of its executable.
func biasOf(t *testing.T, program string, own *profile.Profile) uint64 {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := own.Mapping[0]
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			return m.Start - (p.Vaddr - p.Off + m.Offset)
		}
	}
	t.Fatalf("%s has no code", program)
	return 0
}

// compareProfiles compares all samples; the addresses of want are bias too high.
func compareProfiles(t *testing.T, got, want *profile.Profile, bias uint64) {
	t.Helper()
	have, need := samplesOf(got, 0), samplesOf(want, bias)
	if len(need) < 5 {
		t.Fatalf("only %d samples in the program's own profile", len(need))
	}
	for _, text := range slices.Sorted(maps.Keys(need)) {
		if have[text] != need[text] {
			t.Errorf("exported %d, own %d of\n%s", have[text], need[text], text)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(have)) {
		if need[text] == 0 {
			t.Errorf("only exported:\n%s", text)
		}
	}
	for i, s := range want.SampleType {
		if *got.SampleType[i] != *s {
			t.Errorf("sample type %d is %v, want %v", i, got.SampleType[i], s)
		}
	}
	if got.Period != want.Period || *got.PeriodType != *want.PeriodType {
		t.Errorf("period %d %v, want %d %v", got.Period, got.PeriodType, want.Period, want.PeriodType)
	}
}

// samplesOf is a profile's samples as text, each with how often it is there.
func samplesOf(p *profile.Profile, bias uint64) map[string]int {
	out := map[string]int{}
	for _, s := range p.Sample {
		if slices.Max(s.Value) == 0 {
			continue // allocated after the last collection: the program's own has a line for it
		}
		var b strings.Builder
		fmt.Fprintln(&b, s.Value, s.NumLabel, s.Label)
		for _, l := range s.Location {
			fmt.Fprintf(&b, "  %#x\n", l.Address-bias)
			for _, line := range l.Line {
				fmt.Fprintf(&b, "    %s, %s, %s:%d, from %d\n", line.Function.Name, line.Function.SystemName, fileOf(line.Function), line.Line, line.Function.StartLine)
			}
		}
		out[b.String()]++
	}
	return out
}

// fileOf is a function's file. The init of a package's variables is in several;
// runtime/pprof takes all of them for the first that it meets.
func fileOf(f *profile.Function) string {
	if strings.HasSuffix(f.Name, ".init") {
		return "a file"
	}
	return f.Filename
}
