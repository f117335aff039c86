package cli_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// rights are what a script may say it needs, in its first line: "# needs: limit".
var rights = map[string][]func() error{
	"":      nil,
	"run":   {hwtest.Ptrace},
	"limit": {hwtest.Ptrace, hwtest.Root, hwtest.Cgroup},
	"cores": {hwtest.Ptrace, hwtest.Program("gcore"), kernelWritesCores},
}

// scriptPrograms are the programs of known memory that scripts find in PATH.
var scriptPrograms = []string{"counting", "crash", "filewriter", "goroutines", "leak", "neverready", "nettiny", "processes", "quick", "respserver", "steady",
	"ticker"}

// TestPromises runs the scripts of testdata/script: one for each promise to
// users. Each has a state directory of its own.
func TestPromises(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	env := programs(t)
	goCache, err := exec.Command("go", "env", "GOCACHE").Output() // go tool pprof is built into it
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			hwtest.Need(t, needsOf(t, script)...)
			testscript.Run(t, testscript.Params{
				Files:               []string{script},
				RequireExplicitExec: true,
				UpdateScripts:       os.Getenv("UPDATE") == "1",
				Setup: func(e *testscript.Env) error {
					for name, value := range env {
						e.Setenv(name, value)
					}
					e.Setenv("HOME", e.WorkDir)
					e.Setenv("GOCACHE", strings.TrimSpace(string(goCache)))
					e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
					return nil
				},
				Cmds: scriptCommands,
			})
		})
	}
}

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"json": jsonField, "verify": verifyRecording, "patch": patchFile, "damage": damageFile, "reseal": resealRecording, "freeport": freePort,
	"retime": retimeProfiles,
}

// programs are what scripts find in their environment: a PATH that begins with
// highwater and the programs of known memory, and three programs that cannot be
// read.
func programs(t *testing.T) map[string]string {
	t.Helper()
	dirs := []string{filepath.Dir(highwater(t))}
	for _, name := range scriptPrograms {
		dirs = append(dirs, filepath.Dir(testprog(t, name)))
	}
	dirs = append(dirs, filepath.Dir(hwtest.Build(t, "testdata/profiled", hwtest.BuildOptions{})))
	const old = "testdata/oldprog"
	return map[string]string{
		"PATH":     strings.Join(append(dirs, os.Getenv("PATH")), string(os.PathListSeparator)),
		"OLD":      hwtest.Build(t, old, hwtest.BuildOptions{Toolchain: "go1.19.13"}),
		"STRIPPED": hwtest.Build(t, old, hwtest.BuildOptions{Ldflags: "-s"}),
		"ARM":      hwtest.Build(t, old, hwtest.BuildOptions{Env: []string{"GOARCH=arm64"}}),
	}
}

// needsOf reads a script's first line.
func needsOf(t *testing.T, script string) []func() error {
	t.Helper()
	f, err := os.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	name, said := strings.CutPrefix(strings.TrimSpace(line), "# needs: ")
	needs, known := rights[name]
	if said && !known {
		t.Fatalf("%s needs %q, which is none of the known rights", script, name)
	}
	if !said {
		return nil
	}
	return needs
}

// jsonField is a script's command: "json FILE PATH WANT" compares one value of a
// JSON document, "json FILE PATH" says that it is there and no null.
//
//	json stdout outcome.state exited
//	json stdout ledger.rows
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: json FILE PATH [WANT]")
	}
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &at))
	for _, key := range strings.Split(args[1], ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			n := slices.IndexFunc(v, func(e any) bool { return fmt.Sprint(e.(map[string]any)["name"]) == key })
			if n < 0 {
				ts.Fatalf("%s: nothing is called %s", args[1], key)
			}
			at = v[n]
		default:
			ts.Fatalf("%s: nothing at %s", args[1], key)
		}
	}
	got := fmt.Sprint(at)
	if f, ok := at.(float64); ok {
		got = fmt.Sprintf("%.0f", f)
	}
	if at == nil || len(args) > 2 && got != args[2] {
		ts.Fatalf("%s is %s, want %v", args[1], got, args[2:])
	}
}

// verifyRecording is a script's command: "verify FILE" checks a recording's
// inner order.
func verifyRecording(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: verify FILE")
	}
	ts.Check(recording.Verify(ts.MkAbs(args[0])))
}

// patchFile is a script's command: "patch FROM TO OFFSET HEX" copies a file and
// changes some bytes.
func patchFile(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 4 || neg {
		ts.Fatalf("usage: patch FROM TO OFFSET HEX")
	}
	b := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[2])
	ts.Check(err)
	change, err := hex.DecodeString(args[3])
	ts.Check(err)
	copy(b[at:], change)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

// damageFile is a script's command: "damage FILE" writes cut-N.hwm, which end
// too early, and spoilt-N.hwm, in which 64 bytes are wrong.
func damageFile(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: damage FILE")
	}
	const variants = 24
	b := []byte(ts.ReadFile(args[0]))
	for i := range variants {
		at := len(b) * i / variants
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("cut-%d.hwm", i)), b[:at], 0o644))
		spoilt := bytes.Clone(b)
		for j := at + 40; j < at+104; j++ {
			spoilt[j] ^= 0x5a
		}
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("spoilt-%d.hwm", i)), spoilt, 0o644))
	}
}

// resealRecording is a script's command: "reseal FILE" gives a recording that was
// patched the checksums of what it is now.
func resealRecording(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: reseal FILE")
	}
	ts.Check(recording.Seal(ts.MkAbs(args[0])))
}

// retimeProfiles is a script's command: "retime DIR STEP" gives the profiles of a directory times that are
// so far apart, from that of the first on.
func retimeProfiles(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: retime DIR STEP")
	}
	step, err := time.ParseDuration(args[1])
	ts.Check(err)
	paths, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.pb.gz"))
	ts.Check(err)
	at := int64(0)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		ts.Check(err)
		p, err := profile.ParseData(b)
		ts.Check(err)
		if at == 0 {
			at = p.TimeNanos
		}
		p.TimeNanos = at
		at += int64(step)
		var out bytes.Buffer
		ts.Check(p.Write(&out))
		ts.Check(os.WriteFile(path, out.Bytes(), 0o644))
	}
}

// freePort is a script's command: "freeport NAME..." sets variables to TCP ports of
// loopback that nobody listens on. They lie below those that the kernel gives to
// clients (ip_local_port_range), so that no connection takes one in between.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg {
		ts.Fatalf("usage: freeport NAME...")
	}
	for len(args) > 0 {
		port := fmt.Sprint(20000 + rand.IntN(12000))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		ts.Check(err)
		defer l.Close() // held until all are found: no two are the same
		ts.Setenv(args[0], port)
		args = args[1:]
	}
}
