package app

import (
	"errors"
	"fmt"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// Verify checks one recording, the latest for "".
func Verify(s *Streams, name string) error {
	var names []string
	if name != "" {
		names = []string{name}
	}
	path, err := FindRecording(names)
	if err != nil {
		return err
	}
	c, err := recording.Check(path)
	switch {
	case errors.Is(err, recording.ErrUnfinished):
		return &ExitError{Code: ExitFailed, Err: err,
			Hint: "the recording is still being written, or its writer was killed or had no room. What is there is sound: highwater explain " + ShortName(path)}
	case err != nil:
		return recordingError(err)
	}
	checked := fmt.Sprintf("%s pages are as they were written, by their checksums", count(uint64(c.Pages)))
	if !c.Protected {
		checked = "the recording is older than the checksums, so a changed figure would not be seen"
	}
	visible.Fprintf(s.Out, "%s is whole\n  %s rows are in order, and all that they refer to is there\n  %s\n", ShortName(path), count(uint64(c.Rows)), checked)
	return nil
}

// tellDamage says on standard error what of a recording could not be read, so that an
// answer from the rest is not taken for the whole.
func tellDamage(s *Streams, r *recording.Reader, path string) {
	if err := r.Damage(); err != nil {
		sayDamage(s, path, err.Error())
	}
}

func sayDamage(s *Streams, path, damage string) {
	visible.Fprintf(s.Err, "highwater: %s: %s; the answer covers what could be read\n  highwater verify %s\n", ShortName(path), damage, ShortName(path))
}
