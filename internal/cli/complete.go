package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// offer is one completion with what it is, for the shell.
type offer struct{ text, what string }

// offered are completions that begin with what was typed, and are one word of one line.
func offered(typed string, list []offer) (out []string, directive cobra.ShellCompDirective) {
	for _, o := range list {
		strange := strings.ContainsFunc(o.text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
		if !strange && strings.HasPrefix(o.text, typed) {
			out = append(out, cobra.CompletionWithDesc(o.text, o.what))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeRecordings completes up to most arguments that are recordings, NAME or
// NAME@MOMENT; files stay possible.
func completeRecordings(most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if name, _, moment := strings.Cut(typed, "@"); moment {
			list := momentsOf(name)
			for i := range list {
				list[i].text = name + "@" + list[i].text
			}
			return offered(typed, list)
		}
		out, _ := offered(typed, recordingOffers())
		return out, cobra.ShellCompDirectiveDefault
	}
}

// recordingOffers are the recordings of the state directory.
func recordingOffers() (list []offer) {
	all, _ := app.StoredRecordings() // none: nothing to complete
	if len(all) > 0 {
		list = append(list, offer{app.Latest, app.ShortName(all[0].Path)})
	}
	for _, one := range all {
		list = append(list, offer{app.ShortName(one.Path), fmt.Sprintf("%s, %s", one.Changed.Local().Format("2006-01-02 15:04"), units.Size(one.Bytes))})
	}
	return list
}

// completeKept completes what rm removes.
func completeKept(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	k, err := app.OpenState()
	if err != nil || k == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer k.Close()
	all, _ := k.List()
	var list []offer
	for _, one := range all {
		list = append(list, offer{strings.TrimSuffix(one.Name, app.Suffix), units.Size(one.Bytes)})
	}
	return offered(typed, list)
}

// completeCause completes the fingerprint of a cause.
func completeCause(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	n, _ := app.ReadNotes()
	causes, err := app.CausesOf(n)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []offer
	for _, cause := range slices.Sorted(maps.Keys(causes)) {
		list = append(list, offer{cause, causes[cause]})
	}
	return offered(typed, list)
}

// completeMoment completes a moment of the recording that the first argument names, else of
// the latest.
func completeMoment(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	name := app.Latest
	if len(args) > 0 {
		name = args[0]
	}
	return offered(typed, momentsOf(name))
}

// mostMoments is how many moments are offered by their time.
const mostMoments = 40

// momentsOf are the moments of a recording: by name, and by the time since the start.
func momentsOf(name string) (list []offer) {
	path, err := app.FindRecording([]string{name})
	if name == "" {
		path, err = app.FindRecording(nil)
	}
	if err != nil {
		return nil
	}
	r, err := recording.Open(path)
	if err != nil {
		return nil
	}
	defer r.Close()
	moments, err := r.Moments()
	if err != nil || len(moments) == 0 {
		return nil
	}
	meta, err := r.Meta()
	if err != nil {
		return nil
	}
	list = append(list, offer{"peak", "the most memory"}, offer{"last", "the latest moment"})
	for _, m := range moments {
		if m.Kind == sample.MomentDeath && len(m.Processes) > 0 && m.Processes[0].Signal == 9 {
			list = append(list, offer{"kill", "the kill"})
			break
		}
	}
	for _, m := range moments[max(0, len(moments)-mostMoments):] {
		what := string(m.Kind)
		if m.Usage.OK {
			what += ", " + units.Size(m.Usage.V)
		}
		list = append(list, offer{m.At.Sub(meta.At).Round(100 * time.Millisecond).String(), what})
	}
	return list
}

// completePrograms completes PIDs and names of the Go programs that run.
func completePrograms(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return offered(typed, programOffers(len(args) == 0 || !isNumber(args[0]), len(args) == 0 || isNumber(args[0])))
}

func isNumber(arg string) bool {
	_, err := strconv.Atoi(arg)
	return err == nil
}

// completeProcess completes one PID, beside files and recordings.
func completeProcess(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out, _ := offered(typed, programOffers(false, true))
	more, directive := completeRecordings(1)(c, args, typed)
	return append(out, more...), directive
}

// programOffers are the Go programs that run, by name, by PID, or both.
func programOffers(names, pids bool) (list []offer) {
	finder := watch.Finder{AllGo: true}
	found, _ := finder.Find() // none: nothing to complete
	seen := map[string]bool{}
	for _, pid := range found {
		exe, err := procfs.Exe("/proc", pid)
		name := filepath.Base(exe)
		if err != nil {
			continue
		}
		if pids {
			list = append(list, offer{strconv.Itoa(pid), name})
		}
		if names && !seen[name] {
			seen[name] = true
			list = append(list, offer{name, "all programs of this name"})
		}
	}
	return list
}

// completeFlag completes a flag's value; it is a bug of ours if there is no such flag.
func completeFlag(c *cobra.Command, name string, with cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(name, with); err != nil {
		panic(err)
	}
}
