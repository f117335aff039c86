package app

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// Remove removes what is named, or says what it would.
func Remove(s *Streams, names []string, dry bool) error {
	k, err := OpenState()
	if err != nil {
		return err
	}
	if k == nil {
		return notKept(names[0])
	}
	defer k.Close()
	all, err := k.List()
	if err != nil {
		return err
	}
	var list []kept
	for _, name := range names {
		one, err := keptAs(all, name)
		if err != nil {
			return err
		}
		if err := k.refuses(one); err != nil {
			return &ExitError{Code: ExitFailed, Err: err, Hint: "nothing was removed"}
		}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	if dry {
		visible.Fprintf(s.Out, "would remove %s\n", sized(len(list), sum(list)))
		return nil
	}
	n, bytes, err := k.removeAll(s, list)
	visible.Fprintf(s.Out, "removed %s\n", sized(n, bytes))
	return err
}

// keptAs is the one that a name means: with or without .hwm, or latest.
func keptAs(all []kept, name string) (kept, error) {
	if dir, err := stateDir(); err == nil && filepath.Dir(name) == dir {
		name = filepath.Base(name)
	}
	i := slices.IndexFunc(all, func(one kept) bool {
		return one.Name == name || strings.TrimSuffix(one.Name, Suffix) == name && !one.folder
	})
	if i < 0 && name == Latest {
		i = slices.IndexFunc(all, func(one kept) bool { return !one.folder })
	}
	if i < 0 {
		return kept{}, notKept(name)
	}
	return all[i], nil
}

func notKept(name string) error {
	if strings.ContainsRune(name, filepath.Separator) {
		return Usagef("rm removes recordings of the state directory alone; rm(1) removes any file", "%s is not in the directory of recordings", name)
	}
	return Usagef("highwater list shows the recordings", "no recording %q", name)
}
