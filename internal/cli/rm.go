package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/visible"
)

func rmCommand(s *streams) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "rm RECORDING...",
		Short: "Remove recordings of the state directory",
		Long: `Removes recordings by the names that list shows, and folders of try and fit. It
removes nothing else: no file outside of the state directory, no symbolic link and
what one leads to, no file that is not a recording, and no recording that is being
written. If one of several may not be removed, none is.`,
		Example: `  highwater rm server-3 server-4
  highwater rm --dry-run latest`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return remove(s, args, dry) },
	}
	c.ValidArgsFunction = completeKept
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "say what would be removed, and remove nothing")
	return c
}

// remove removes what is named, or says what it would.
func remove(s *streams, names []string, dry bool) error {
	k, err := openState()
	if err != nil {
		return err
	}
	if k == nil {
		return notKept(names[0])
	}
	defer k.close()
	all, err := k.list()
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
			return &exitError{code: exitFailed, err: err, hint: "nothing was removed"}
		}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	if dry {
		visible.Fprintf(s.out, "would remove %s\n", sized(len(list), sum(list)))
		return nil
	}
	n, bytes, err := k.removeAll(s, list)
	visible.Fprintf(s.out, "removed %s\n", sized(n, bytes))
	return err
}

// keptAs is the one that a name means: with or without .hwm, or latest.
func keptAs(all []kept, name string) (kept, error) {
	if dir, err := stateDir(); err == nil && filepath.Dir(name) == dir {
		name = filepath.Base(name)
	}
	i := slices.IndexFunc(all, func(one kept) bool {
		return one.name == name || strings.TrimSuffix(one.name, suffix) == name && !one.folder
	})
	if i < 0 && name == latest {
		i = slices.IndexFunc(all, func(one kept) bool { return !one.folder })
	}
	if i < 0 {
		return kept{}, notKept(name)
	}
	return all[i], nil
}

func notKept(name string) error {
	if strings.ContainsRune(name, filepath.Separator) {
		return usagef("rm removes recordings of the state directory alone; rm(1) removes any file", "%s is not in the directory of recordings", name)
	}
	return usagef("highwater list shows the recordings", "no recording %q", name)
}
