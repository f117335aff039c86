package visible

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestWordsAreThoseThatAShellReads(t *testing.T) {
	for _, command := range []string{
		"./server -v", "  a \t b\n", `sh -c 'a && b $1' "x \"y\" \z" \ q`, `a'b c'"d e"f`, `'' ""`, `"\\ \$x \a"`, `it\'s "it's"`, `"ü" ü`,
	} {
		words, open := Words(command)
		out, err := exec.Command("sh", "-c", "printf '%s\\0' "+command).Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("SKIP-REASON: needs a shell")
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if got := bareOf(words); err != nil || open != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q, %v", command, got, want, err)
		}
	}
}

func bareOf(words []Word) (bare []string) {
	for _, w := range words {
		bare = append(bare, w.Bare)
	}
	return bare
}

func TestWordsKeepWhatWasTypedAndSayWhatAShellActsUpon(t *testing.T) {
	for command, want := range map[string][]Word{
		`a\|b "c|$d" '$e'`: {{`a\|b`, "a|b", "ab"}, {`"c|$d"`, "c|$d", "$"}, {`'$e'`, "$e", ""}},
		"a | b*":           {{"a", "a", "a"}, {"|", "|", "|"}, {"b*", "b*", "b*"}},
		"":                 nil,
	} {
		if got, open := Words(command); open != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]rune{"a 'b": '\'', `a "b`: '"', `a \`: '\\', `a "b\`: '\\', `'a\'`: 0} {
		if _, open := Words(command); open != want {
			t.Errorf("%s waits for %q, want %q", command, open, want)
		}
	}
}

// What Shell writes Words reads, but for the form of $'...'.
func FuzzWordsThatWereQuotedComeOutAsTheyWentIn(f *testing.F) {
	f.Add("it's", "a b\\")
	f.Fuzz(func(t *testing.T, a, b string) {
		if text := Shell(a, b); !strings.Contains(text, "$'") {
			if words, open := Words(text); open != 0 || !slices.Equal(bareOf(words), []string{a, b}) {
				t.Errorf("%q, %q: %q", a, b, words)
			}
		}
	})
}
