package cli_test

import (
	"bufio"
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

	"github.com/highwater-go/highwater/internal/hwtest"
)

// TestTheExportedProfileIsTheProgramsOwn compares export --pprof with what the
// program's own runtime/pprof wrote while nothing allocated: sample for sample,
// with values, labels, functions, files, lines, inlined calls and addresses.
func TestTheExportedProfileIsTheProgramsOwn(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace)
	for _, toolchain := range []string{"go1.24.13", "go1.25.7", "go1.26.8", "go1.27.2"} {
		for _, pie := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, PIE %v", toolchain, pie), func(t *testing.T) {
				hwtest.Need(t, hwtest.Toolchain(toolchain))
				program := hwtest.Build(t, "../testprog/steady", hwtest.BuildOptions{Toolchain: toolchain, PIE: pie})
				own, exported := bothProfiles(t, program)
				compareProfiles(t, exported, own, pie)
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
	cmd := exec.Command(highwater(t), "run", "-q", "-o", recorded, "--", program, "-garbage", "0", "-live", "8MiB", "-profile", ownFile, "-for", "1m")
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

// compareProfiles: a PIE's addresses differ by where it was loaded.
func compareProfiles(t *testing.T, got, want *profile.Profile, pie bool) {
	t.Helper()
	bias := uint64(0)
	if pie {
		bias = want.Mapping[0].Start - want.Mapping[0].Offset - (got.Mapping[0].Start - got.Mapping[0].Offset)
	}
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
		var b strings.Builder
		fmt.Fprintln(&b, s.Value, s.NumLabel, s.Label)
		for _, l := range s.Location {
			fmt.Fprintf(&b, "  %#x\n", l.Address-bias)
			for _, line := range l.Line {
				fmt.Fprintf(&b, "    %s, %s, %s:%d, from %d\n", line.Function.Name, line.Function.SystemName, line.Function.Filename, line.Line, line.Function.StartLine)
			}
		}
		out[b.String()]++
	}
	return out
}
