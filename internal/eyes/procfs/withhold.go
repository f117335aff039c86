package procfs

import (
	"path"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// Withheld stands where the value of an argument was left out.
const Withheld = "…"

var (
	// What says how a program was set and names nobody: numbers, sizes, shares,
	// durations, switches.
	plainValue = lazily(`^(?:[+-]?\d{1,12}(?:\.\d{1,6})?(?:[eE]\d{1,2})?%?` +
		`|\d{1,12}(?:\.\d{1,6})?\s?(?:[kKMGTP]i?[bB]?|[bB])` +
		`|(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h|d)){1,4}` +
		`|true|false|on|off|yes|no)$`)
	// Addresses that mean this machine and no other, or all of its own.
	loopback = lazily(`^(?:https?://|tcp://|redis://|grpc://)?(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\*)?:\d{1,5}(/.*)?$|^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$`)
	// A flag's name: words of letters, an ordinal behind them at most. A password that
	// is glued to its flag (-pS3cret) is not one.
	flagName = lazily(`^--?(?:[A-Za-z]|[A-Za-z]?[a-z]{1,19}(?:[A-Z][a-z]{0,19}){0,5}\d{0,2})(?:[-_.](?:[A-Za-z]?[a-z]{0,19}(?:[A-Z][a-z]{0,19}){0,5}\d{0,3})){0,8}$`)
	pathWord = lazily(`^(?:/[a-z]{0,16}\d{0,2}(?:[-_.][a-z]{1,16}){0,3})*$`)
	program  = lazily(`^[\w./+~@-]+$`)
	grammar  = lazily(`^[&|;<>()]+$`)
	// The Go runtime's own settings, which are about memory.
	goSetting = lazily(`^(?:GOGC|GOMEMLIMIT|GOMAXPROCS|GODEBUG)=[\w.,=-]+$`)
)

// Withhold is a program's command line as a recording has it by default: the
// program, the script that it runs, the names of flags, and of values those alone
// that are plain numbers, sizes, durations or addresses of loopback. Every other
// value is Withheld: what is a secret among them nobody can tell. Flags with a
// secret's name lose a number, too.
func Withhold(p sample.Program) []string {
	script := p.Script()
	args := bounded(p.Args)
	out := make([]string, len(args))
	hideNext := false
	for i, arg := range args {
		switch {
		case i == 0 || i == script:
			out[i] = RedactText(arg)
		case hideNext:
			out[i] = Withheld
		default:
			out[i] = withhold(arg)
		}
		hideNext = i > 0 && !hideNext && (secretFlag.MatchString(arg) || userFlag.MatchString(arg))
	}
	return out
}

// WithholdShell is the same of a shell's command: --load has one. Of its words the
// first stays if it names a program.
func WithholdShell(command string) string {
	words, _ := visible.Words(command)
	bare := bareOf(words)
	if len(bare) == 0 {
		return ""
	}
	clean := Withhold(sample.Program{Name: path.Base(bare[0]), Args: bare})
	if !program.MatchString(bare[0]) {
		clean[0] = Withheld
	}
	for i, w := range words[:len(clean)] {
		if grammar.MatchString(w.Typed) {
			clean[i] = w.Typed
		}
	}
	return asTyped(words, clean)
}

// WithholdWord is the same of a single value: an address that was asked for.
func WithholdWord(word string) string {
	if word == "" {
		return ""
	}
	return withholdValue(word)
}

// WithholdSettings is the same of an environment's settings: of those that are not
// the Go runtime's the names stay.
func WithholdSettings(settings []string) []string {
	out := slices.Clone(settings)
	for i, s := range out {
		if name, value, ok := strings.Cut(s, "="); ok && !goSetting.MatchString(s) && (!plainValue.MatchString(value) || secretFlag.MatchString("-"+name)) {
			out[i] = name + "=" + Withheld
		}
	}
	return out
}

func withhold(arg string) string {
	if arg == "-" || arg == "--" || goSetting.MatchString(arg) {
		return arg
	}
	if !strings.HasPrefix(arg, "-") {
		return withholdValue(arg)
	}
	name, value, given := strings.Cut(arg, "=")
	switch {
	case plainValue.MatchString(arg): // a negative number
		return arg
	case !flagName.MatchString(name), gluedPassword.MatchString(name) && !ordinaryP.MatchString(name):
		return Withheld
	case !given:
		return name
	case secretFlag.MatchString(name):
		return name + "=" + Withheld
	}
	return name + "=" + withholdValue(value)
}

func withholdValue(value string) string {
	if plainValue.MatchString(value) {
		return value
	}
	found := loopback.FindStringSubmatch(value)
	switch {
	case found == nil:
		return Withheld
	case pathWord.MatchString(found[1]):
		return value
	}
	return strings.TrimSuffix(value, found[1]) + "/" + Withheld
}
