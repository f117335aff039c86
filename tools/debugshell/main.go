// Debugshell is the shell of the debug image: a POSIX shell, and what is typed most, as cat,
// cp, ls, find and tar, in one static program.
//
//	sh                    reads commands from standard input
//	sh -c 'ls /proc'      runs commands
//	sh FILE [ARG...]      runs a script
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
	"mvdan.cc/sh/moreinterp/coreutils"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

func main() {
	command := flag.String("c", "", "run these `commands`")
	flag.Parse()
	err := run(*command, flag.Args())
	var status interp.ExitStatus
	switch {
	case errors.As(err, &status):
		os.Exit(int(status))
	case err != nil:
		fmt.Fprintln(os.Stderr, "sh:", err)
		os.Exit(2)
	}
}

func run(command string, args []string) error {
	shell, err := interp.New(interp.StdIO(os.Stdin, os.Stdout, os.Stderr), interp.ExecHandlers(coreutils.ExecHandler),
		interp.Interactive(command == "" && len(args) == 0))
	if err != nil {
		return err
	}
	switch {
	case command != "":
		return script(shell, strings.NewReader(command), "")
	case len(args) > 0:
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		if err := interp.Params(append([]string{"--"}, args[1:]...)...)(shell); err != nil {
			return err
		}
		return script(shell, f, args[0])
	case term.IsTerminal(int(os.Stdin.Fd())):
		return typed(shell)
	}
	return script(shell, os.Stdin, "")
}

func script(shell *interp.Runner, text io.Reader, name string) error {
	f, err := syntax.NewParser().Parse(text, name)
	if err != nil {
		return err
	}
	return shell.Run(context.Background(), f)
}

// typed runs what is typed, a line or what it begins at a time.
func typed(shell *interp.Runner) error {
	parser := syntax.NewParser()
	fmt.Print("$ ")
	var last error
	for list, err := range parser.InteractiveSeq(os.Stdin) {
		if err != nil {
			return err
		}
		if parser.Incomplete() {
			fmt.Print("> ")
			continue
		}
		for _, one := range list {
			if last = shell.Run(context.Background(), one); shell.Exited() {
				return last
			}
		}
		fmt.Print("$ ")
	}
	return last
}
