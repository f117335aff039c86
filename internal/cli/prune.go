package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

// pruneFlags are prune's flags as given, and what they say.
type pruneFlags struct {
	olderThan, largerThan string
	keep                  int
	yes                   bool

	age   time.Duration
	bytes int64
}

func pruneCommand(s *streams) *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use:   "prune [--older-than AGE] [--larger-than SIZE] [--keep N] [--yes]",
		Short: "Remove old or large recordings; without --yes, show which",
		Long: `Lists the recordings of the state directory, and folders of try and fit, for which
all of the given rules hold, and with --yes removes them. The newest N of each program
stay with --keep N. What rm refuses stays, too: links, other files, and what is being
written.

All recordings together take at most 8 GiB, or what HIGHWATER_STATE_MAX says: where
a new one exceeds that, the oldest are removed, and that is said. HIGHWATER_STATE_MAX=off
switches it off.`,
		Example: `  highwater prune --older-than 30d
  highwater prune --older-than 7d --larger-than 10MiB --keep 3 --yes`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.olderThan, "older-than", "", "remove what was last written more than this `time` ago: 12h, 30d, 8w")
	flags.StringVar(&f.largerThan, "larger-than", "", "remove what takes more than this `size`: 10MiB")
	flags.IntVar(&f.keep, "keep", -1, "keep the newest `N` of each program, and of each trial")
	flags.BoolVar(&f.yes, "yes", false, "remove them")
	return c
}

func (f pruneFlags) run(s *streams) error {
	if err := f.parse(); err != nil {
		return err
	}
	k, err := openState()
	if err != nil {
		return err
	}
	var all []kept
	if k != nil {
		defer k.close()
		if all, err = k.list(); err != nil {
			return err
		}
	}
	var list []kept
	for _, one := range f.choose(all, time.Now()) {
		if why := k.refuses(one); why != nil {
			visible.Fprintf(s.err, "highwater: kept: %v\n", why)
			continue
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		visible.Fprintf(s.out, "nothing to remove: %s\n", sized(len(all), sum(all)))
		return nil
	}
	for _, one := range list {
		visible.Fprintf(s.out, "%s  %9s  %s\n", one.changed.Local().Format("2006-01-02 15:04"), units.Size(one.bytes), strings.TrimSuffix(one.name, suffix))
	}
	if !f.yes {
		visible.Fprintf(s.out, "would remove %s of %s; add --yes to remove them\n", sized(len(list), sum(list)), units.Size(sum(all)))
		return nil
	}
	n, bytes, err := k.removeAll(s, list)
	visible.Fprintf(s.out, "removed %s; %s are left\n", sized(n, bytes), sized(len(all)-n, sum(all)-bytes))
	return err
}

// parse reads the rules, of which there must be one.
func (f *pruneFlags) parse() (err error) {
	if f.olderThan == "" && f.largerThan == "" && f.keep < 0 {
		return usagef("highwater prune --older-than 30d, --larger-than 10MiB, or --keep 3", "prune needs a rule")
	}
	if f.olderThan != "" {
		if f.age, err = parseAge(f.olderThan); err != nil {
			return err
		}
	}
	if f.largerThan != "" {
		n, err := units.ParseSize(f.largerThan)
		if err != nil {
			return usagef("--larger-than 10MiB", "--larger-than: %w", err)
		}
		f.bytes = int64(n)
	}
	return nil
}

// parseAge reads a time in days or weeks, too.
func parseAge(text string) (time.Duration, error) {
	for end, day := range map[string]time.Duration{"d": 1, "w": 7} {
		if n, err := strconv.ParseUint(strings.TrimSuffix(text, end), 10, 16); strings.HasSuffix(text, end) && err == nil {
			return time.Duration(n) * day * 24 * time.Hour, nil
		}
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, usagef("--older-than 12h, --older-than 30d", "--older-than: %q is not a time", text)
	}
	return age, nil
}

// choose is what all rules are for; all is newest first.
func (f pruneFlags) choose(all []kept, now time.Time) (list []kept) {
	newer := map[string]int{}
	for _, one := range all {
		newer[one.program()]++
		switch {
		case newer[one.program()] <= f.keep:
		case f.olderThan != "" && now.Sub(one.changed) <= f.age:
		case f.largerThan != "" && one.bytes <= f.bytes:
		default:
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b kept) int { return cmp.Compare(a.changed.UnixNano(), b.changed.UnixNano()) })
	return list
}
