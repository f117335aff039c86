package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func noteCommand(s *app.Streams) *cobra.Command {
	var f app.NoteFlags
	c := &cobra.Command{
		Use:   "note [FINGERPRINT [TEXT...]]",
		Short: "Name a cause, or mark it as accepted",
		Long: `Keeps a note on a cause in the state directory. explain and list show the fingerprint of
the cause; its first digits are enough. Highwater shows the note wherever it finds the
same cause again. Without arguments, it prints all notes.`,
		Example: `  highwater note hw-7c1e2f "uploads are buffered; ticket 4711"
  highwater note hw-7c1e2f --accept "one import a night needs this"
  highwater note hw-7c1e2f --remove`,
		RunE: func(_ *cobra.Command, args []string) error { return f.Run(s, args) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.Accept, "accept", false, "mark this cause as accepted; explain and list say so")
	flags.BoolVar(&f.Reopen, "reopen", false, "mark this cause as no longer accepted")
	flags.BoolVar(&f.Remove, "remove", false, "remove the note")
	flags.BoolVar(&f.JSON, "json", false, "print all notes as JSON")
	c.ValidArgsFunction = completeCause
	c.MarkFlagsMutuallyExclusive("accept", "reopen", "remove", "json")
	return c
}
