// Package cli is the command line: one file a command, with its flags, its help and its
// completion. What a command does is in app.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// Main runs one command line and returns the exit code.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	s := app.NewStreams(in, out, errOut)
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	c, err := root.ExecuteContextC(context.Background())
	code := complain(s, asUsage(c, err))
	_ = s.Flush() // there is nobody left to tell
	return code
}

// complain prints an error the one way there is and gives its exit code.
func complain(s *app.Streams, err error) int {
	if err == nil {
		return app.ExitDone
	}
	var e *app.ExitError
	if !errors.As(err, &e) {
		e = &app.ExitError{Code: app.ExitFailed, Err: err}
	}
	if e.Err != nil {
		s.Complain(err)
		if e.Hint != "" {
			visible.Fprintf(s.Err, "  %s\n", e.Hint)
		}
	}
	return e.Code
}

// asUsage says cobra's own complaints about a command line in words of ours, with what to do.
func asUsage(c *cobra.Command, err error) error {
	var e *app.ExitError
	if err == nil || errors.As(err, &e) || !app.IsUsage(err) {
		return err
	}
	var value *pflag.InvalidValueError
	if errors.As(err, &value) && c != nil {
		return wrongValue(c, value)
	}
	if c == nil || !c.HasParent() {
		return unknownCommand(err)
	}
	hint := fmt.Sprintf("%s --help shows the arguments and flags", c.CommandPath())
	if m := wrongCount.FindStringSubmatch(err.Error()); m != nil {
		err = fmt.Errorf("%s takes %s%s, and %s were given", c.Name(), m[1], arguments(m[2]), m[3])
	} else if m := tooFewGiven.FindStringSubmatch(err.Error()); m != nil {
		err = fmt.Errorf("%s needs at least %s", c.Name(), arguments(m[1]))
	} else if strings.HasPrefix(err.Error(), "unknown command") && !c.HasSubCommands() {
		err = fmt.Errorf("%s takes no arguments", c.Name())
	}
	return app.Usagef(hint, "%w", err)
}

// wrongValue says what a flag takes instead of the value that it was given.
func wrongValue(c *cobra.Command, e *pflag.InvalidValueError) error {
	flag := e.GetFlag()
	takes, example := "a "+flag.Value.Type(), ""
	switch flag.Value.Type() {
	case "duration":
		takes, example = "a duration", "10m"
	case "int", "int64", "uint", "uint64":
		takes, example = "a whole number", "10"
	case "float64":
		takes, example = "a number", "0.5"
	case "bool":
		takes, example = "true or false", "false"
	}
	hint := fmt.Sprintf("%s --help shows the arguments and flags", c.CommandPath())
	if example != "" {
		hint = fmt.Sprintf("--%s=%s", flag.Name, example)
	}
	return app.Usagef(hint, "--%s %q is not %s", flag.Name, e.GetValue(), takes)
}

// unknownCommand names the commands that may have been meant.
func unknownCommand(err error) error {
	said, meant, _ := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	hint := "highwater help shows the commands"
	if names := strings.Fields(meant); len(names) > 0 {
		hint = "did you mean highwater " + strings.Join(names, ", or highwater ") + "?"
	}
	return app.Usagef(hint, "%s", strings.TrimSuffix(said, ` for "highwater"`))
}

// What cobra says of a wrong number of arguments (args.go).
var (
	wrongCount  = regexp.MustCompile(`^accepts (at most )?(\d+) arg\(s\), received (\d+)$`)
	tooFewGiven = regexp.MustCompile(`^requires at least (\d+) arg\(s\)`)
)

func arguments(n string) string {
	if n == "1" {
		return "one argument"
	}
	return n + " arguments"
}

func newRoot(s *app.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "highwater",
		Short: "Explain why a Go program used the memory it did, and which line caused it",
		Long: `Highwater runs a Go program, or attaches to a running one, without changing it. It
records every peak and every OOM kill in one file, and explains it with numbers that add
up to the kernel's.`,
		Example: `  highwater run --limit 256MiB -- ./server      run it under a limit and explain its memory
  highwater explain                             explain the latest recording
  highwater export --pprof | go tool pprof -http=: -`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	answerVersion(root, s)
	setHelp(root, s)
	for i, one := range commands {
		c := one.make(s)
		if one.reads {
			addBound(&app.Bound{Live: s.Live}, c)
		}
		c.GroupID, c.Annotations = one.task, map[string]string{orderKey: fmt.Sprintf("%02d", i)}
		root.AddCommand(c)
	}
	root.AddCommand(waitCommand(s))
	describeCompletion(root)
	return root
}

// commands are all, by task; those that read foreign files alone are bounded.
var commands = []struct {
	task  string // of tasks
	reads bool
	make  func(*app.Streams) *cobra.Command
}{
	{"record", false, runCommand},
	{"record", false, watchCommand},
	{"record", false, topCommand},
	{"record", true, importCommand},
	{"fleet", false, agentCommand},
	{"fleet", false, fleetCommand},
	{"understand", true, explainCommand},
	{"understand", false, openCommand},
	{"understand", true, diffCommand},
	{"understand", false, heapCommand},
	{"understand", false, exportCommand},
	{"fix", true, tuneCommand},
	{"fix", false, tryCommand},
	{"fix", false, fitCommand},
	{"manage", true, listCommand},
	{"manage", true, noteCommand},
	{"manage", false, rmCommand},
	{"manage", false, pruneCommand},
	{"manage", true, verifyCommand},
	{"manage", false, doctorCommand},
	{"manage", false, versionCommand},
	{"manage", false, manCommand},
}
