package app

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// Streams are the command's three files: answers go to out, progress to err. What is
// written there is shown and commands no terminal; the ways past that are in this file.
type Streams struct {
	in  io.Reader
	Out *visible.Writer
	Err *visible.Writer
	// Live says on err how long something takes, until anything is written to out.
	Live *live
}

func NewStreams(in io.Reader, out, errOut io.Writer) *Streams {
	s := &Streams{in: in, Out: visible.NewWriter(out), Err: visible.NewWriter(errOut), Live: newLive(errOut)}
	s.Out.Before(s.Live.end)
	s.Err.Before(s.Live.clear)
	return s
}

// Flush writes what of a character came without its end.
func (s *Streams) Flush() error { return errors.Join(s.Out.Flush(), s.Err.Flush()) }

// Complain prints an error. Cobra's own have several lines, and hold what was typed alone.
func (s *Streams) Complain(err error) {
	var own *ExitError
	if !errors.As(err, &own) && IsUsage(err) {
		_, _ = io.WriteString(s.Err, "highwater: "+err.Error()+"\n")
		return
	}
	visible.Fprintf(s.Err, "highwater: %v\n", err)
}

// page is where a page of report goes, which has shown what is not ours and coloured it
// afterwards.
func (s *Streams) page() io.Writer {
	s.Live.end()
	if s.color() {
		return s.Out.Unescaped()
	}
	return s.Out
}

// color says whether pages are coloured.
func (s *Streams) color() bool { return useColor(s.Out) }

// binary is where a file goes that is not text. It is refused on a terminal before.
func (s *Streams) binary() io.Writer {
	s.Live.end()
	return s.Out.Unescaped()
}

// bare is a stream for what a program that the user named writes itself, and for the
// control sequences of the live line.
func bare(w io.Writer) io.Writer {
	if v, ok := w.(*visible.Writer); ok {
		return v.Unescaped()
	}
	return w
}

// FileOf is the file behind a stream; a program started by us needs a real one.
func FileOf(w io.Writer) *os.File {
	f, _ := bare(w).(*os.File)
	return f
}

// isTerminal says whether w is a terminal that understands control sequences.
func isTerminal(w io.Writer) bool { return IsTTY(FileOf(w)) && os.Getenv("TERM") != "dumb" }

// IsTTY says whether f is a terminal. /dev/null is a character device but not a terminal.
func IsTTY(f *os.File) bool { return f != nil && isatty.IsTerminal(f.Fd()) }

// useColor follows the terminal and NO_COLOR (no-color.org).
func useColor(w io.Writer) bool {
	_, no := os.LookupEnv("NO_COLOR")
	return isTerminal(w) && !no
}

// typed is how a recording is called in a command to type: by its name where it lies in
// the state directory, else by its path; neither is taken for a flag or a moment.
func typed(path string) string {
	name := ShortName(path)
	if strings.HasPrefix(name, "-") || strings.Contains(name, "@") {
		name = path
	}
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return visible.Shell(name)
}
