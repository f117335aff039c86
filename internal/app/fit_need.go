package app

import (
	"errors"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// need is what is known of a program before it meets a limit.
type need struct {
	peak      sample.Bytes
	limitable bool // a Go program whose GOMEMLIMIT is not set
	setting   pacer.Setting
	nonGo     sample.Bytes
	exe       string
	smallest  *pacer.Smallest // as tune predicts; nil where it refuses
	why       []string
}

// readNeed reads it from the free run's recording.
func readNeed(path string, free trial.Run) (n need, err error) {
	r, err := recording.Open(path)
	if err != nil {
		return n, recordingError(err)
	}
	defer r.Close()
	n.peak = max(sample.Bytes(free.Values[trial.FigurePeak]), minLimit)
	n.setting = pacer.Setting{GOGC: 100, Limit: sample.NoMemoryLimit}
	programs, err := r.Programs()
	if err != nil || len(programs) == 0 {
		return n, err
	}
	n.exe = programs[len(programs)-1].Exe
	h, err := pacer.Load(r)
	if errors.Is(err, pacer.ErrNoHistory) {
		n.why = []string{"no Go program's collector was seen: GOMEMLIMIT would do nothing"}
		return n, nil
	}
	if err != nil {
		return n, err
	}
	a := pacer.Tune(h, pacer.Options{})
	n.limitable, n.setting, n.nonGo, n.exe = true, h.Setting, a.NonGo, h.Program.Exe
	n.why, n.smallest = a.Why, a.Smallest
	return n, nil
}

// interval is where a search begins: around what tune predicts, else around what the
// free run needed.
func (n need) interval(limited bool) (from, to sample.Bytes) {
	at, low := n.peak, 0.7
	if n.smallest != nil {
		at, low = n.smallest.AsIs, 0.85
		if limited && n.smallest.Healthy > 0 {
			at = n.smallest.Healthy
		}
	}
	return max(sample.Bytes(low*float64(at)), minLimit), max(sample.Bytes(1.1*float64(at)), minLimit+sample.MiB)
}

// next is a run under what is recommended.
func (t *fit) next() string {
	r := t.answer.Recommended
	if r == nil {
		return "highwater explain " + typed(filepath.Join(t.folder, "free"))
	}
	return underLimit(r) + t.base.Command
}
