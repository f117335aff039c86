package app

import (
	"regexp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/trial"
)

// variant is a variant and how it is started.
type variant struct {
	trial.Variant
	command trial.Command
	ref     string // of git; "": it runs as it is
	dir     string // to run in; "": ours
	limit   string // of its own; "": that of all
}

// variantName matches a name: it names files and columns.
var variantName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._=-]{0,23}$`)

// variants are those of the arguments, of --sweep and of --git; what stands behind
// "--" is one command, the base.
func (f TryFlags) variants(args []string, dash int) (list []variant, err error) {
	if dash >= 0 {
		list = append(list, newVariant("base", trial.Command{Args: args[dash:]}))
		args = args[:dash]
		if len(list[0].command.Args) == 0 {
			return nil, Usagef("highwater try --limit 256MiB --sweep GOGC=20,50 -- ./server", "there is no program after --")
		}
	}
	for _, arg := range args {
		v, err := parseVariant(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, Usagef("highwater try --limit 256MiB base=./server new=./server-new", "try needs a base")
	}
	base := list[0]
	for _, s := range f.Sweeps {
		more, err := sweep(base, s)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	for _, ref := range f.Refs {
		v := newVariant(strings.NewReplacer("/", "-", "~", "-", "^", "-", "@", "-").Replace(ref), base.command)
		v.ref = ref
		list = append(list, v)
	}
	return list, f.several(list)
}

// several checks that there is something to compare, under names of their own.
func (f TryFlags) several(list []variant) error {
	if len(list) < 2 && !f.Compare {
		return Usagef("add NAME=CMD, --sweep GOGC=20,50 or --git REF", "try needs a variant besides the base %s", list[0].Name)
	}
	for i, v := range list {
		if !variantName.MatchString(v.Name) {
			return Usagef("letters, digits and . _ = - are allowed, 24 at most", "%q is not a name for a variant", v.Name)
		}
		if slices.ContainsFunc(list[:i], func(other variant) bool { return other.Name == v.Name }) {
			return Usagef("each variant needs a name of its own", "two variants are called %s", v.Name)
		}
	}
	return nil
}

func newVariant(name string, c trial.Command) variant {
	return variant{Variant: trial.Variant{Name: name, Command: KeepArgs(true).variant(c)}, command: c}
}

// parseVariant reads NAME=CMD.
func parseVariant(arg string) (variant, error) {
	hint := "write NAME=CMD, as in base=./server, or new='GOGC=50 ./server -v'"
	name, text, ok := strings.Cut(arg, "=")
	if !ok || name == "" {
		return variant{}, Usagef(hint, "%q does not name a variant", arg)
	}
	c, err := trial.ParseCommand(text)
	if err != nil {
		return variant{}, Usagef("for a shell write sh -c '...'", "%s: %w", name, err)
	}
	return newVariant(name, c), nil
}

// sweep reads NAME=A,B,C: the base with each of the settings.
func sweep(base variant, text string) (list []variant, err error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" || len(words(values)) == 0 {
		return nil, Usagef("--sweep GOGC=20,50,100", "--sweep %q is not a setting with values", text)
	}
	for _, value := range words(values) {
		setting := name + "=" + value
		c := trial.Command{Env: append(slices.Clone(base.command.Env), setting), Args: base.command.Args}
		list = append(list, newVariant(setting, c))
	}
	return list, nil
}
