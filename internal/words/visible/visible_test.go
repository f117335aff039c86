package visible

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
	"unicode/utf8"
)

// attack has one of each kind that a terminal or a reader would follow.
const attack = "a\x1b]0;title\x07\x9b1m\u009b2m\r\n\x00\x7f\u202eevil\u2066\u200b\u2028\U000e0041ü"

func TestWhatATerminalWouldFollowIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"main.go:12 ██ größer\t5": "main.go:12 ██ größer\t5",
		"\x1b[31m":                "^[[31m",
		"a\r\nKILLED":             "a^M^JKILLED",
		"\x00\x1f":                "^@^_",
		"\x7f":                    `\u007f`,
		"\u009b1m":                `\u009b1m`,
		"\x9b1m":                  `\x9b1m`,
		"\u202eevil":              `\u202eevil`,
		"\u2066\u200b\ufeff":      `\u2066\u200b\ufeff`,
		"\U000e0041":              `\udb40\udc41`,
		"\ufffd":                  "\ufffd",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestAWriterKeepsOurLinesAndNothingElse(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, b := range []byte("größer\n" + attack + "\n") { // in pieces of a byte
		if n, err := w.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 4 || lines[0] != "größer" || lines[1]+"^J"+lines[2] != Text(attack) {
		t.Errorf("%q", lines)
	}
	io.WriteString(w, "\xc3")
	if err := w.Flush(); err != nil || !strings.HasSuffix(out.String(), `\xc3`) {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, err := NewWriter(brokenWriter{}).Write([]byte("x")); err == nil {
		t.Error("what is behind it failed")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, iotest.ErrTimeout }

func TestJSONThroughAWriterHasTheSameValues(t *testing.T) {
	want := strings.ToValidUTF8(attack, "?")
	var out bytes.Buffer
	if err := json.NewEncoder(NewWriter(&out)).Encode(want); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got != want {
		t.Errorf("%q is %q, %v", out.String(), got, err)
	}
	if text := strings.TrimSuffix(out.String(), "\n"); Text(text) != text {
		t.Errorf("%q", text)
	}
}

func TestValuesOfOthersMakeNoLines(t *testing.T) {
	inner := fmt.Errorf("status %s", "500\n  KILLED")
	joined := errors.Join(errors.New("first"), fmt.Errorf("second: %w", inner))
	for _, c := range []struct {
		want   string
		format string
		args   []any
	}{
		{"a^Jb\n", "%s\n", []any{"a\nb"}},
		{"[a^[ b]\n", "%v\n", []any{[]string{"a\x1b", "b"}}},
		{"highwater: open: first; second: status 500^J  KILLED\n", "highwater: %v\n", []any{fmt.Errorf("open: %w", joined)}},
		{"   5 1.5s ^[\n", "%4d %v %s\n", []any{5, 1500 * time.Millisecond, hostile{}}},
		{"a^Jb\n", "%s\n", []any{class("a\nb")}},
		{"%!s(<nil>)\n", "%s\n", []any{nil}},
	} {
		var out strings.Builder
		if _, err := Fprintf(&out, c.format, c.args...); err != nil || out.String() != c.want {
			t.Errorf("%q, want %q, %v", out.String(), c.want, err)
		}
	}
}

type class string

type hostile struct{}

func (hostile) String() string { return "\x1b" }

func TestAShellReadsTheWordsAgain(t *testing.T) {
	words := []string{"plain", "-o", "", "a b", "it's", "x;touch PWN;$(id)", "a\nb", "tab\tbed", "\x1b[31m\\'", "~", "ü", "\u202e", "\xff", "*", "#"}
	text := Shell(words...)
	if Text(text) != text || strings.Contains(text, "\t") {
		t.Errorf("it cannot be shown: %q", text)
	}
	out, err := exec.Command("bash", "-c", "printf '%s\\0' "+text).Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("SKIP-REASON: needs bash")
	}
	if got := strings.TrimSuffix(string(out), "\x00"); err != nil || got != strings.Join(words, "\x00") {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzNothingIsSentThatIsNotShown(f *testing.F) {
	f.Add(attack)
	f.Add("\xed\xa0\x80\xf4\x90\x80\x80")
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		w := NewWriter(&out)
		_, _ = io.WriteString(w, s)
		_ = w.Flush()
		for _, text := range []string{Text(s), strings.ReplaceAll(out.String(), "\n", ""), Shell(s), Error(errors.New(s))} {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }) {
				t.Errorf("%q is sent as %q", s, text)
			}
		}
	})
}
