package cli

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func verifyCommand(s *app.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [RECORDING...]",
		Short: "Check that a recording is complete and unchanged",
		Long: `Reads a whole recording: compares every page with its checksum, and checks that rows and
times are in order, that every reference resolves, and that every heap profile decodes.
The checksums find a bad disk or a bad copy. They are not a signature: who changes a
recording on purpose can compute them again.

Exit code 1: the recording is damaged, cut or not finished; the answer says which and
where. Recordings older than the checksums are checked without them.`,
		Example: `  highwater verify
  highwater verify server-3 /tmp/from-the-ticket.hwm`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{""}
			}
			var failed error
			for _, arg := range args {
				if err := app.Verify(s, arg); err != nil && failed != nil {
					complain(s, failed)
					failed = err
				} else if err != nil {
					failed = err
				}
			}
			return failed
		},
	}
	c.ValidArgsFunction = completeRecordings(math.MaxInt)
	return c
}
