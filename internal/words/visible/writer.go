package visible

import (
	"fmt"
	"io"
	"reflect"
	"sync"
	"unicode/utf8"
)

// Writer passes lines of text on and shows in them what Text shows. It is the last
// thing before a terminal: what went past Text, or Fprintf, commands no terminal. Several
// goroutines may use it.
type Writer struct {
	to   io.Writer
	mu   sync.Mutex
	part []byte // the beginning of a character whose end was not written yet
	out  []byte // reused

	before func() // nil: nothing
}

// NewWriter is a Writer before to.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Unescaped is what the Writer stands before, for what is not a text of ours: binary
// files, a program's own output, and colours.
func (w *Writer) Unescaped() io.Writer { return w.to }

// Before has do called before each text is written; do must not write to w. It is set
// before the Writer is used.
func (w *Writer) Before(do func()) { w.before = do }

// Write writes a text. All of p counts as written unless the writer behind fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.before != nil {
		w.before()
	}
	text := append(w.part, p...)
	end := len(text) - unfinished(text)
	w.out = appendShown(w.out[:0], text[:end], true)
	w.part = append([]byte(nil), text[end:]...)
	if _, err := w.to.Write(w.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the beginning of a character that was not finished.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := appendShown(nil, w.part, true)
	w.part = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := w.to.Write(rest)
	return err
}

// unfinished is how many bytes at the end are the beginning of a character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		tail := text[len(text)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Fprintf is fmt.Fprintf for texts of ours with values of others: new lines are those of
// the format alone.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = value(arg)
	}
	return fmt.Fprintf(w, format, safe...)
}

// value is an argument without what is not shown. Numbers are as they are.
func value(arg any) any {
	switch v := arg.(type) {
	case string:
		return Text(v)
	case []string:
		out := make([]string, len(v))
		for i := range v {
			out[i] = Text(v[i])
		}
		return out
	case error:
		return Error(v)
	case fmt.Stringer:
		return stringer{v}
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
		return Text(v.String())
	}
	return arg
}

// stringer keeps what a value prints as with verbs for numbers.
type stringer struct{ fmt.Stringer }

// Format writes the value for its verb, as Text.
func (s stringer) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, Text(fmt.Sprintf(fmt.FormatString(f, verb), s.Stringer)))
}
