package trial

import (
	"reflect"
	"strings"
	"testing"
)

func TestACommandIsReadAsAShellWould(t *testing.T) {
	for text, want := range map[string]Command{
		"./server":                           {nil, []string{"./server"}},
		"GOMEMLIMIT=410MiB  ./server -v":     {[]string{"GOMEMLIMIT=410MiB"}, []string{"./server", "-v"}},
		"GOGC=20 A= ./server X=1":            {[]string{"GOGC=20", "A="}, []string{"./server", "X=1"}},
		`sh -c 'a && b $1' "x \"y\" \z" \ q`: {nil, []string{"sh", "-c", "a && b $1", `x "y" \z`, " q"}},
		`./a ''`:                             {nil, []string{"./a", ""}},
		"./a -x=a=b ü":                       {nil, []string{"./a", "-x=a=b", "ü"}},
		"1A=2 x":                             {nil, []string{"1A=2", "x"}},
	} {
		got, err := ParseCommand(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestWhatOnlyAShellCanDoIsRefused(t *testing.T) {
	for text, why := range map[string]string{
		"":             "names no program",
		"GOGC=20":      "names no program",
		"./a | tee x":  "for a shell",
		"./a $HOME":    "for a shell",
		`./a "$HOME"`:  "for a shell",
		"./a > x":      "for a shell",
		"cd x && ./a":  "for a shell",
		"./a 'b":       "not closed",
		`./a \`:        "backslash",
		"./a *.txt":    "for a shell",
		"./a `whoami`": "for a shell",
	} {
		if c, err := ParseCommand(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q, %v, want an error of %q", text, c, err, why)
		}
	}
}

// Words that are quoted one by one come out as they went in.
func FuzzACommand(f *testing.F) {
	f.Add("GOGC=20 ./a 'b c'", "x y'z")
	f.Fuzz(func(t *testing.T, text, word string) {
		if c, err := ParseCommand(text); err == nil && (len(c.Args) == 0 || isSetting(c.Args[0])) {
			t.Errorf("%q: %q", text, c)
		}
		if strings.ToValidUTF8(word, "") != word {
			return
		}
		quoted := "./a '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		if c, err := ParseCommand(quoted); err != nil || len(c.Args) != 2 || c.Args[1] != word {
			t.Errorf("%q: %q, %v, want %q", quoted, c, err, word)
		}
	})
}
