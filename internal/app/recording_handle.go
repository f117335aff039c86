package app

import (
	"errors"
	"os"
	"strconv"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// recordingHandle is a recording while it is written, and who is told of it.
type recordingHandle struct {
	path   string
	writer *recording.Writer
	status *status
	quiet  bool // do not print the answer
	json   bool // print it as JSON
	typed  startedAs
}

// conclude explains the recording, keeps the verdict in it, closes it and prints
// the answer, which is nil where there is none.
func (t *recordingHandle) conclude(s *Streams) *explain.Answer {
	err := t.writer.Flush()
	a, answerErr := t.bounded()
	if answerErr == nil && err == nil {
		err = keepVerdict(t.writer, a)
	}
	if closeErr := t.writer.Close(); err == nil {
		err = closeErr
	}
	if err != nil && !errors.Is(err, recording.ErrClosed) { // what ended it early was told then
		t.status.say("highwater: finish the recording: %v", err)
	}
	keepBound(t.path, t.status.say)
	switch {
	case answerErr != nil:
		t.status.say("highwater: %v", answerErr)
	case t.json || !t.quiet:
		if err := t.print(s, a); err != nil {
			t.status.say("highwater: print the answer: %v", err)
		}
	}
	return a
}

// bounded is the answer within the bounds of explain, and half of the memory that is free:
// a program that was made to do harm may have had very much written of it. The recording
// is there in any case.
func (t *recordingHandle) bounded() (*explain.Answer, error) {
	var a *explain.Answer
	w := Watchman{What: "the answer", Most: usedMemory() + min(MostReading, availableMemory()/2), Long: LongReading}
	err := w.Run(func() (err error) {
		a, err = t.answer()
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (t *recordingHandle) print(s *Streams, a *explain.Answer) error {
	if !t.json {
		visible.Fprintf(s.Out, "\n")
	}
	return ExplainFlags{JSON: t.json}.Print(s, t.path, a)
}

// answer is what explain says of the recording, with the arguments that the
// recording leaves out.
func (t *recordingHandle) answer() (*explain.Answer, error) {
	r, err := recording.Open(t.path)
	if err != nil {
		return nil, recordingError(err)
	}
	defer r.Close()
	e, err := explain.Load(r, t.path, "")
	if err != nil {
		return nil, momentError(err, t.path)
	}
	t.typed.fillIn(e)
	return answerOf(t.path, e)
}

// abandon removes a recording that holds nothing.
func (t *recordingHandle) abandon(err error) error {
	t.writer.Close()
	os.Remove(t.path)
	return err
}

// keepVerdict writes what list shows and what makes the next recording's
// fingerprint "seen".
func keepVerdict(w *recording.Writer, a *explain.Answer) error {
	rows := map[string]string{
		metaState:       string(a.Outcome.State),
		metaVerdict:     string(a.Verdict.Class),
		metaSentence:    a.Verdict.Sentence,
		metaFingerprint: a.Verdict.Fingerprint,
	}
	if peak := a.Outcome.PeakBytes; peak != nil {
		rows[metaPeak] = strconv.FormatUint(uint64(*peak), 10)
	}
	for key, value := range rows {
		if err := w.SetMeta(key, value); err != nil {
			return err
		}
	}
	return nil
}
