package explain

import (
	"path"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
)

// interpreters run scripts that people know by the script's name. The kernel
// starts a file that begins with #! as "INTERPRETER [ARGUMENT] FILE ARGS..."
// (execve(2)), which is how a shell is told a script's name, too.
var interpreters = []string{"sh", "ash", "bash", "busybox", "dash", "ksh", "zsh", "perl", "python", "python3", "ruby", "node"}

// nameScripts gives interpreters that run a script the script's name, and its
// command line.
func nameScripts(programs []sample.Program) {
	for i := range programs {
		p := &programs[i]
		if at := scriptOf(p); at > 0 {
			p.Name, p.Args = path.Base(p.Args[at]), p.Args[at:]
		}
	}
}

// scriptOf is which argument is the script; 0 where there is none, as for
// "sh -c 'make run'".
func scriptOf(p *sample.Program) int {
	name := strings.TrimRight(p.Name, ".0123456789") // python3.11
	if p.Go != nil || !slices.Contains(interpreters, p.Name) && !slices.Contains(interpreters, name) {
		return 0
	}
	for i, arg := range p.Args {
		switch {
		case i == 0, p.Name == "busybox" && i == 1 && slices.Contains(interpreters, arg):
		case !strings.HasPrefix(arg, "-"):
			return i
		case arg == "-", slices.Contains(noScript(p.Name), arg):
			return 0
		}
	}
	return 0
}

// noScript are an interpreter's options that stand in a script's place: for the
// text itself, a module's name or standard input.
func noScript(interpreter string) []string {
	switch {
	case strings.HasPrefix(interpreter, "python"):
		return []string{"-c", "-m"}
	case interpreter == "perl", interpreter == "ruby", interpreter == "node":
		return []string{"-e", "-E", "-p", "--eval", "--print"}
	}
	return []string{"-c", "-ec", "-lc", "-s"}
}
