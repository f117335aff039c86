// Package app is what highwater does: run, watch, explain, heap, try, fit, import and the
// rest, each with options that are set before and an error that knows its exit code. It
// joins the other rooms and knows nothing of command lines.
package app

import (
	"fmt"
	"strings"
)

// Exit codes, a contract with scripts. run passes the program's own code
// through, unless it ended the program itself.
const (
	ExitDone          = 0
	ExitFailed        = 1
	exitUsage         = 2
	ExitBudget        = 3
	ExitInconclusive  = 4
	exitNotPermitted  = 5
	signalExitCodeOff = 128
)

// ExitError is an error that knows its exit code. Err nil means that everything
// is already said.
type ExitError struct {
	Code int
	Err  error
	Hint string
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Usagef is a mistake in how the command was called, with what to do about it.
func Usagef(hint, format string, args ...any) error {
	return &ExitError{Code: exitUsage, Err: fmt.Errorf(format, args...), Hint: hint}
}

// ExitWith ends the command with a code and no message.
func ExitWith(code int) error {
	if code == ExitDone {
		return nil
	}
	return &ExitError{Code: code}
}

// IsUsage tells cobra's own complaints, which carry no type.
func IsUsage(err error) bool {
	for _, start := range []string{"unknown command", "unknown flag", "unknown shorthand", "flag needs an argument", "invalid argument", "accepts ",
		"requires at least", "bad flag syntax"} {
		if strings.HasPrefix(err.Error(), start) {
			return true
		}
	}
	return false
}
