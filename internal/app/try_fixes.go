package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const triedSchema = "highwater.tried/1"

// triedFixes are what trials have said of variants, for the fixes of later answers: a
// small file beside the recordings, as notes are.
type triedFixes struct {
	Schema string     `json:"schema"`
	Tried  []triedFix `json:"tried"` // the latest last
}

// triedFix is what a trial said of one variant.
type triedFix struct {
	Fingerprint string       `json:"fingerprint"` // of the base's fault
	Limit       sample.Bytes `json:"limit_bytes"`
	Variant     string       `json:"variant"`
	// Setting is all by which it differs from the base, "GOMEMLIMIT=200MiB"; "": it is
	// another program.
	Setting string      `json:"setting"`
	State   trial.State `json:"state"`
	Why     string      `json:"why"`
	Folder  string      `json:"folder"`
}

func triedPath() (string, error) {
	dir, err := stateDir()
	return filepath.Join(dir, "tried.json"), err
}

// readTried is empty where nothing was tried, or where the file is not known.
func readTried() (t triedFixes) {
	path, err := triedPath()
	if err != nil {
		return t
	}
	text, err := readOwn(path)
	if err != nil { // none yet
		return t
	}
	if json.Unmarshal(text, &t) != nil || t.Schema != triedSchema {
		return triedFixes{}
	}
	return t
}

// noteCause notes the fingerprint of a run of the base that was lost. Its runs may have
// more than one: where little was seen of a run its class may be another, or none.
func (t *Try) noteCause(r trial.Run) {
	if t.Compare || !r.Ended.Lost() {
		return
	}
	cause := fingerprintOf(filepath.Join(t.folder, r.Recording))
	if cause != "" && !slices.Contains(t.causes, cause) {
		t.causes = append(t.causes, cause)
	}
}

// remember keeps what a trial said of the variants that it settled, for each cause that
// the base has shown.
func (t *Try) remember(a *trial.Answer) error {
	folder, err := filepath.Abs(t.folder)
	if err != nil || len(t.causes) == 0 {
		return err
	}
	all := readTried()
	all.Schema = triedSchema
	for i := range a.Variants {
		v := &a.Variants[i]
		if v.State != trial.Proved && v.State != trial.Refuted && v.State != trial.Worse {
			continue
		}
		for _, cause := range t.causes {
			one := triedFix{Fingerprint: cause, Limit: a.Limit, Variant: v.Name, State: v.State, Why: v.Why, Folder: folder}
			one.Setting = t.difference(v.Name)
			all.Tried = slices.DeleteFunc(all.Tried, func(old triedFix) bool {
				return old.Fingerprint == one.Fingerprint && old.Limit == one.Limit && old.Variant == one.Variant && old.Setting == one.Setting
			})
			all.Tried = append(all.Tried, one)
		}
	}
	path, err := triedPath()
	if err != nil {
		return err
	}
	return replaceJSON(path, all)
}

// difference is the settings by which a variant differs from the base, "" where it is
// another program. One that lacks a setting is "without NAME=VALUE".
func (t *Try) difference(name string) string {
	i := slices.IndexFunc(t.variants, func(v variant) bool { return v.Name == name })
	v, base := t.variants[i], t.variants[0]
	if v.ref != "" || !slices.Equal(v.command.Args, base.command.Args) {
		return ""
	}
	if added := lacking(v.command.Env, base.command.Env); len(added) > 0 {
		return strings.Join(t.stage.KeepArgs.settings(added), " ")
	}
	return strings.TrimSpace("without " + strings.Join(t.stage.KeepArgs.settings(lacking(base.command.Env, v.command.Env)), " "))
}

// lacking are those of the settings that are not among others.
func lacking(settings, others []string) []string {
	return slices.DeleteFunc(slices.Clone(settings), func(e string) bool { return slices.Contains(others, e) })
}

// tell gives the fixes of an answer the state that a trial of the same fault,
// under the same limit, has found: that very setting for a setting, a changed
// program that was proved for a change of the code. A setting that was lost is no fix.
func (t triedFixes) tell(a *explain.Answer) {
	for _, tried := range t.Tried {
		if tried.Fingerprint != a.Verdict.Fingerprint || a.Outcome.LimitBytes == nil || tried.Limit != *a.Outcome.LimitBytes {
			continue
		}
		i := slices.IndexFunc(a.Fixes, func(f explain.Fix) bool {
			return tried.Setting != "" && tried.Setting == f.Text || tried.Setting == "" && f.Kind == "code" && tried.State == trial.Proved
		})
		if i < 0 || a.Fixes[i].State == explain.Proved && !strings.HasPrefix(a.Fixes[i].Outlook, "by ") { // the recording's own proof
			continue
		}
		_, counts, _ := strings.Cut(tried.Why, ": ")
		said := fmt.Sprintf("by %s of %s: %s", tried.Variant, filepath.Base(tried.Folder), counts)
		if tried.State == trial.Proved {
			a.Fixes[i].State, a.Fixes[i].Outlook = explain.Proved, said
			continue
		}
		a.WontHelp = append(a.WontHelp, explain.NoHelp{Text: a.Fixes[i].Text, Reason: "tried " + said})
		a.Fixes = slices.Delete(a.Fixes, i, i+1)
	}
}
