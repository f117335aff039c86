package testprog

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"testprog/truth"
)

// programs are the folders that hold a main.go, built once.
func programs(t *testing.T) (names []string, dir string) {
	t.Helper()
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	dir = t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, m := range mains {
		names = append(names, filepath.Dir(m))
	}
	return names, dir
}

func TestEveryProgramKnowsTheLineToBlame(t *testing.T) {
	names, dir := programs(t)
	for _, name := range names {
		told := tell(t, filepath.Join(dir, name))
		if told.Program != name || told.Class == "" || told.ClassUnlimited == "" {
			t.Errorf("%s: says it is %q, class %q, without a limit %q", name, told.Program, told.Class, told.ClassUnlimited)
		}
		places := told.Places
		if told.Function != "" {
			places["the line to blame"] = truth.Place{Function: told.Function, File: told.File, Line: told.Line}
		}
		for mark, p := range places {
			if got := functionAt(t, filepath.Join(name, "main.go"), p.Line); got != p.Function {
				t.Errorf("%s: %s is line %d of %s, says the program; the parser says %q", name, mark, p.Line, p.Function, got)
			}
			if want, err := filepath.Abs(filepath.Join(name, "main.go")); err != nil || p.File != want {
				t.Errorf("%s: %s is in %s, want %s", name, mark, p.File, want)
			}
		}
	}
}

func tell(t *testing.T, program string, args ...string) (told truth.Truth) {
	t.Helper()
	out, err := exec.Command(program, append(args, "-truth")...).Output()
	if err != nil {
		t.Fatalf("%s -truth: %v", program, err)
	}
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatalf("%s -truth: %v\n%s", program, err, out)
	}
	return told
}

// functionAt names the function that a line stands in, by the parser.
func functionAt(t *testing.T, path string, line int) string {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || line < files.Position(fn.Pos()).Line || line > files.Position(fn.End()).Line {
			continue
		}
		if fn.Recv == nil {
			return "main." + fn.Name.Name
		}
		star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
		if !ok {
			t.Fatalf("%s: a method on a value", path)
		}
		return "main.(*" + star.X.(*ast.Ident).Name + ")." + fn.Name.Name
	}
	return ""
}

func TestProgramsEndByThemselvesWithTheCodeTheySay(t *testing.T) {
	_, dir := programs(t)
	for _, command := range []string{
		"leak -rate 0 -max 32MiB -for 1s",
		"leak -rate 1MiB -max 1GiB -for 1s",
		"burst -floor 1MiB -buffer 4MiB -hold 10ms -pause 50ms -bursts 2,3",
		"garbage -live 16MiB -for 500ms",
		"cgoleak -rate 0 -max 32MiB -for 1s",
		"cgofrag -blocks 1000 -for 100ms",
		"cgofrag -blocks 1000 -threads 2 -for 100ms",
		"lockedthreads -n 10 -for 100ms",
		"filewriter -size 16MiB -rest 1ms",
		"steady -live 4MiB -for 500ms",
		"steady -live 4MiB -garbage 0 -for 500ms",
		"goroutines -rate 0 -max 500 -for 500ms",
		"mmapper -rate 0 -max 64MiB -for 500ms",
		"nettiny -for 200ms",
		"counting -keep 1MiB -for 200ms",
		"respserver -for 200ms",
		"ticker -for 300ms",
		"neverready -for 100ms",
		"quick",
		"quick -code 3",
		"crash -how panic -after 1ms",
		"crash -how nil -after 1ms",
		"crash -how abort -after 1ms",
		"crash -how segv -after 1ms",
		"crash -how kill -after 1ms",
		"crash -how term -after 1ms",
		"processes -sizes 1MiB,2MiB -for 200ms",
		"processes -sizes 1MiB,2MiB -for 200ms -shell -leak 2 -rate 0 -max 4MiB",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(command)
			program := filepath.Join(dir, args[0])
			want := tell(t, program, args[1:]...).ExitCode
			// A shell between makes 128+n of a signal, as users see it.
			script := exec.Command("/bin/sh", append([]string{"-c", `"$0" "$@"; exit $?`, program}, args[1:]...)...)
			out, err := script.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := script.ProcessState.ExitCode(); got != want {
				t.Errorf("code %d, want %d\n%s", got, want, out)
			}
		})
	}
}

func TestFilewriterLeavesNoFile(t *testing.T) {
	_, dir := programs(t)
	where := t.TempDir()
	if out, err := exec.Command(filepath.Join(dir, "filewriter"), "-dir", where, "-size", "1MiB", "-rest", "1ms").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(where); err != nil || len(left) > 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

func TestProcessesKnowTheirChildren(t *testing.T) {
	_, dir := programs(t)
	told := tell(t, filepath.Join(dir, "processes"), "-sizes", "16MiB,1GiB,3KiB", "-leak", "3", "-max", "1MiB")
	want := []int64{16 << 20, 1 << 30, 3<<10 + 1<<20}
	if len(told.Processes) != 3 || told.Processes[0] != want[0] || told.Processes[1] != want[1] || told.Processes[2] != want[2] || told.Class != "leak" {
		t.Errorf("processes %v class %s, want %v leak", told.Processes, told.Class, want)
	}
}
