package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/visible"
)

type noteFlags struct{ accept, reopen, remove, json bool }

func noteCommand(s *streams) *cobra.Command {
	var f noteFlags
	c := &cobra.Command{
		Use:   "note [FINGERPRINT [TEXT...]]",
		Short: "Name a cause, or mark it as accepted",
		Long: `Keeps a note on a cause in the state directory. explain and list show the fingerprint of
the cause; its first digits are enough. Highwater shows the note wherever it finds the
same cause again. Without arguments, it prints all notes.`,
		Example: `  highwater note hw-7c1e2f "uploads are buffered; ticket 4711"
  highwater note hw-7c1e2f --accept "one import a night needs this"
  highwater note hw-7c1e2f --remove`,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(s, args) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.accept, "accept", false, "mark this cause as accepted; explain and list say so")
	flags.BoolVar(&f.reopen, "reopen", false, "mark this cause as no longer accepted")
	flags.BoolVar(&f.remove, "remove", false, "remove the note")
	flags.BoolVar(&f.json, "json", false, "print all notes as JSON")
	c.ValidArgsFunction = completeCause
	c.MarkFlagsMutuallyExclusive("accept", "reopen", "remove", "json")
	return c
}

func (f noteFlags) run(s *streams, args []string) error {
	n, err := readNotes()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if f.accept || f.reopen || f.remove {
			return usagef("highwater note hw-7c1e2f --accept; highwater list shows the fingerprints", "which cause?")
		}
		return f.print(s, n)
	}
	causes, err := causesOf(n)
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
	if f.json {
		return f.print(s, n)
	}
	visible.Fprintf(s.out, "%s  %s\n", fingerprint, noteText(n.of(fingerprint)))
	if recording := causes[fingerprint]; recording != "" {
		visible.Fprintf(s.out, "highwater explain %s\n", recording)
	}
	return nil
}

// change writes what the flags and the text ask for, if they ask for anything.
func (f noteFlags) change(n *notes, fingerprint, text string) error {
	have := n.of(fingerprint)
	switch {
	case f.remove && text != "":
		return usagef("highwater note "+visible.Shell(fingerprint)+" --remove", "--remove takes no text")
	case f.remove:
		n.put(fingerprint, nil)
	case text == "" && !f.accept && !f.reopen:
		return nil // to be shown
	default:
		next := noted(text, f.accept || have != nil && have.Accepted && !f.reopen)
		if have != nil && text == "" {
			next.Text = have.Text
		}
		n.put(fingerprint, next)
	}
	return n.write()
}

func (f noteFlags) print(s *streams, n notes) error {
	if f.json {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(n)
	}
	if len(n.Notes) == 0 {
		visible.Fprintf(s.out, "no note yet\nhighwater note FINGERPRINT TEXT\n")
		return nil
	}
	for _, one := range n.Notes {
		visible.Fprintf(s.out, "%s  %s\n", one.Fingerprint, noteText(&one.Note))
	}
	visible.Fprintf(s.out, "highwater list\n")
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

// causesOf are the fingerprints of all recordings and notes, each with its latest
// recording, "" if it has none any more.
func causesOf(n notes) (map[string]string, error) {
	causes := map[string]string{}
	for _, one := range n.Notes {
		causes[one.Fingerprint] = ""
	}
	all, err := storedRecordings()
	if err != nil {
		return nil, err
	}
	for _, one := range slices.Backward(all) { // newest last
		if fingerprint := fingerprintOf(one.path); fingerprint != "" {
			causes[fingerprint] = typed(one.path)
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
		return "", usagef("highwater list shows the fingerprints", "no recording has the fingerprint %q", typed)
	case 1:
		return found[0], nil
	}
	return "", usagef("write more of it", "%q may be %s", typed, strings.Join(found, " or "))
}
