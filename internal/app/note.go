package app

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/visible"
)

type NoteFlags struct{ Accept, Reopen, Remove, JSON bool }

func (f NoteFlags) Run(s *Streams, args []string) error {
	n, err := ReadNotes()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if f.Accept || f.Reopen || f.Remove {
			return Usagef("highwater note hw-7c1e2f --accept; highwater list shows the fingerprints", "which cause?")
		}
		return f.print(s, n)
	}
	causes, err := CausesOf(n)
	if err != nil {
		return err
	}
	fingerprint, err := oneOf(causes, args[0])
	if err != nil {
		return err
	}
	if err := f.change(&n, fingerprint, strings.Join(args[1:], " ")); err != nil {
		return err
	}
	if f.JSON {
		return f.print(s, n)
	}
	visible.Fprintf(s.Out, "%s  %s\n", fingerprint, noteText(n.of(fingerprint)))
	if recording := causes[fingerprint]; recording != "" {
		visible.Fprintf(s.Out, "highwater explain %s\n", recording)
	}
	return nil
}

// change writes what the flags and the text ask for, if they ask for anything.
func (f NoteFlags) change(n *notes, fingerprint, text string) error {
	have := n.of(fingerprint)
	switch {
	case f.Remove && text != "":
		return Usagef("highwater note "+visible.Shell(fingerprint)+" --remove", "--remove takes no text")
	case f.Remove:
		n.put(fingerprint, nil)
	case text == "" && !f.Accept && !f.Reopen:
		return nil // to be shown
	default:
		next := noted(text, f.Accept || have != nil && have.Accepted && !f.Reopen)
		if have != nil && text == "" {
			next.Text = have.Text
		}
		n.put(fingerprint, next)
	}
	return n.write()
}

func (f NoteFlags) print(s *Streams, n notes) error {
	if f.JSON {
		e := json.NewEncoder(s.Out)
		e.SetIndent("", "  ")
		return e.Encode(n)
	}
	if len(n.Notes) == 0 {
		visible.Fprintf(s.Out, "no note yet\nhighwater note FINGERPRINT TEXT\n")
		return nil
	}
	for _, one := range n.Notes {
		visible.Fprintf(s.Out, "%s  %s\n", one.Fingerprint, noteText(&one.Note))
	}
	visible.Fprintf(s.Out, "highwater list\n")
	return nil
}

// noteText is a note in one line.
func noteText(n *explain.Note) string {
	switch {
	case n == nil:
		return "no note"
	case n.Accepted && n.Text == "":
		return "accepted"
	case n.Accepted:
		return "accepted: " + n.Text
	case n.Text == "":
		return "not accepted"
	}
	return n.Text
}

// CausesOf are the fingerprints of all recordings and notes, each with its latest
// recording, "" if it has none any more.
func CausesOf(n notes) (map[string]string, error) {
	causes := map[string]string{}
	for _, one := range n.Notes {
		causes[one.Fingerprint] = ""
	}
	all, err := StoredRecordings()
	if err != nil {
		return nil, err
	}
	for _, one := range slices.Backward(all) { // newest last
		if fingerprint := fingerprintOf(one.Path); fingerprint != "" {
			causes[fingerprint] = typed(one.Path)
		}
	}
	return causes, nil
}

// oneOf is the fingerprint that begins with what was typed, "hw-" or not.
func oneOf(causes map[string]string, typed string) (string, error) {
	var found []string
	for fingerprint := range causes {
		if fingerprint == typed {
			return typed, nil
		}
		if strings.HasPrefix(fingerprint, "hw-"+strings.TrimPrefix(typed, "hw-")) && len(strings.TrimPrefix(typed, "hw-")) >= 2 {
			found = append(found, fingerprint)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", Usagef("highwater list shows the fingerprints", "no recording has the fingerprint %q", typed)
	case 1:
		return found[0], nil
	}
	return "", Usagef("write more of it", "%q may be %s", typed, strings.Join(found, " or "))
}
