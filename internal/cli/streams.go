package cli

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/highwater-go/highwater/internal/visible"
)

// streams are the command's three files: answers go to out, progress to err. What is
// written there is shown and commands no terminal; the ways past that are in this file.
type streams struct {
	in  io.Reader
	out *visible.Writer
	err *visible.Writer
	// live says on err how long something takes, until anything is written to out.
	live *live
}

func newStreams(in io.Reader, out, errOut io.Writer) *streams {
	s := &streams{in: in, out: visible.NewWriter(out), err: visible.NewWriter(errOut), live: newLive(errOut)}
	s.out.Before(s.live.end)
	s.err.Before(s.live.clear)
	return s
}

// flush writes what of a character came without its end.
func (s *streams) flush() error { return errors.Join(s.out.Flush(), s.err.Flush()) }

// complain prints an error. Cobra's own have several lines, and hold what was typed alone.
func (s *streams) complain(err error) {
	var own *exitError
	if !errors.As(err, &own) && isUsage(err) {
		_, _ = io.WriteString(s.err, "highwater: "+err.Error()+"\n")
		return
	}
	visible.Fprintf(s.err, "highwater: %v\n", err)
}

// page is where a page of report goes, which has shown what is not ours and coloured it
// afterwards.
func (s *streams) page() io.Writer {
	s.live.end()
	if s.color() {
		return s.out.Unescaped()
	}
	return s.out
}

// color says whether pages are coloured.
func (s *streams) color() bool { return useColor(s.out) }

// binary is where a file goes that is not text. It is refused on a terminal before.
func (s *streams) binary() io.Writer {
	s.live.end()
	return s.out.Unescaped()
}

// bare is a stream for what a program that the user named writes itself, and for the
// control sequences of the live line.
func bare(w io.Writer) io.Writer {
	if v, ok := w.(*visible.Writer); ok {
		return v.Unescaped()
	}
	return w
}

// fileOf is the file behind a stream; a program started by us needs a real one.
func fileOf(w io.Writer) *os.File {
	f, _ := bare(w).(*os.File)
	return f
}

// isTerminal says whether w is a terminal that understands control sequences.
func isTerminal(w io.Writer) bool { return isTTY(fileOf(w)) && os.Getenv("TERM") != "dumb" }

// isTTY says whether f is a terminal. /dev/null, a character device too, is none.
func isTTY(f *os.File) bool { return f != nil && isatty.IsTerminal(f.Fd()) }

// useColor follows the terminal and NO_COLOR (no-color.org).
func useColor(w io.Writer) bool {
	_, no := os.LookupEnv("NO_COLOR")
	return isTerminal(w) && !no
}

// typed is how a recording is called in a command to type: by its name where it lies in
// the state directory, else by its path; neither is taken for a flag or a moment.
func typed(path string) string {
	name := shortName(path)
	if strings.HasPrefix(name, "-") || strings.Contains(name, "@") {
		name = path
	}
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return visible.Shell(name)
}
