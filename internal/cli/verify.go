package cli

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/visible"
)

func verifyCommand(s *streams) *cobra.Command {
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
				if err := verify(s, arg); err != nil && failed != nil {
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

// verify checks one recording, the latest for "".
func verify(s *streams, name string) error {
	var names []string
	if name != "" {
		names = []string{name}
	}
	path, err := findRecording(names)
	if err != nil {
		return err
	}
	c, err := recording.Check(path)
	switch {
	case errors.Is(err, recording.ErrUnfinished):
		return &exitError{code: exitFailed, err: err, hint: "the recording is still being written, or its writer was killed or had no room. What is there is sound: highwater explain " + shortName(path)}
	case err != nil:
		return recordingError(err)
	}
	checked := fmt.Sprintf("%s pages are as they were written, by their checksums", count(uint64(c.Pages)))
	if !c.Protected {
		checked = "the recording is older than the checksums, so a changed figure would not be seen"
	}
	visible.Fprintf(s.out, "%s is whole\n  %s rows are in order, and all that they refer to is there\n  %s\n", shortName(path), count(uint64(c.Rows)), checked)
	return nil
}

// tellDamage says on standard error what of a recording could not be read, so that an
// answer from the rest is not taken for the whole.
func tellDamage(s *streams, r *recording.Reader, path string) {
	if err := r.Damage(); err != nil {
		sayDamage(s, path, err.Error())
	}
}

func sayDamage(s *streams, path, damage string) {
	visible.Fprintf(s.err, "highwater: %s: %s; the answer covers what could be read\n  highwater verify %s\n", shortName(path), damage, shortName(path))
}
