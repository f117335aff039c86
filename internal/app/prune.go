package app

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// PruneFlags are prune's flags as given, and what they say.
type PruneFlags struct {
	OlderThan, LargerThan string
	Keep                  int
	Yes                   bool

	age   time.Duration
	bytes int64
}

func (f PruneFlags) Run(s *Streams) error {
	if err := f.parse(); err != nil {
		return err
	}
	k, err := OpenState()
	if err != nil {
		return err
	}
	var all []kept
	if k != nil {
		defer k.Close()
		if all, err = k.List(); err != nil {
			return err
		}
	}
	var list []kept
	for _, one := range f.choose(all, time.Now()) {
		if why := k.refuses(one); why != nil {
			visible.Fprintf(s.Err, "highwater: kept: %v\n", why)
			continue
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		visible.Fprintf(s.Out, "nothing to remove: %s\n", sized(len(all), sum(all)))
		return nil
	}
	for _, one := range list {
		visible.Fprintf(s.Out, "%s  %9s  %s\n", one.changed.Local().Format("2006-01-02 15:04"), units.Size(one.Bytes), strings.TrimSuffix(one.Name, Suffix))
	}
	if !f.Yes {
		visible.Fprintf(s.Out, "would remove %s of %s; add --yes to remove them\n", sized(len(list), sum(list)), units.Size(sum(all)))
		return nil
	}
	n, bytes, err := k.removeAll(s, list)
	visible.Fprintf(s.Out, "removed %s; %s are left\n", sized(n, bytes), sized(len(all)-n, sum(all)-bytes))
	return err
}

// parse reads the rules, of which there must be one.
func (f *PruneFlags) parse() (err error) {
	if f.OlderThan == "" && f.LargerThan == "" && f.Keep < 0 {
		return Usagef("highwater prune --older-than 30d, --larger-than 10MiB, or --keep 3", "prune needs a rule")
	}
	if f.OlderThan != "" {
		if f.age, err = parseAge(f.OlderThan); err != nil {
			return err
		}
	}
	if f.LargerThan != "" {
		n, err := units.ParseSize(f.LargerThan)
		if err != nil {
			return Usagef("--larger-than 10MiB", "--larger-than: %w", err)
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
		return 0, Usagef("--older-than 12h, --older-than 30d", "--older-than: %q is not a time", text)
	}
	return age, nil
}

// choose is what all rules are for; all is newest first.
func (f PruneFlags) choose(all []kept, now time.Time) (list []kept) {
	newer := map[string]int{}
	for _, one := range all {
		newer[one.program()]++
		switch {
		case newer[one.program()] <= f.Keep:
		case f.OlderThan != "" && now.Sub(one.changed) <= f.age:
		case f.LargerThan != "" && one.Bytes <= f.bytes:
		default:
			list = append(list, one)
		}
	}
	sorting.Stable(list, func(a, b kept) int { return cmp.Compare(a.changed.UnixNano(), b.changed.UnixNano()) })
	return list
}
