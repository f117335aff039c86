package sample

import (
	"slices"
	"strings"
)

// interpreters run scripts that people know by the script's name. The kernel
// starts a file that begins with #! as "INTERPRETER [ARGUMENT] FILE ARGS..."
// (execve(2)), which is how a shell is told a script's name, too.
var interpreters = []string{"sh", "ash", "bash", "busybox", "dash", "ksh", "zsh", "perl", "python", "python3", "ruby", "node"}

// Script is which of the program's arguments names the script that it runs; 0 where
// it runs none, as for "sh -c 'make run'".
func (p *Program) Script() int {
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
