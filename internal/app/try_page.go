package app

import (
	"io"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/report"
)

// page writes the answer as a page.
func (t *Try) page(a *trial.Answer) error {
	curves, err := t.curves(a)
	if err != nil {
		return err
	}
	return writeOutput(t.HTML, func(w io.Writer) error { return report.TryPage(w, a, curves) })
}

// curves are the courses of the runs whose recordings are there.
func (t *Try) curves(a *trial.Answer) (list []trial.Curve, err error) {
	for _, run := range a.Runs {
		if run.Recording == "" {
			continue
		}
		c, err := curveOf(filepath.Join(t.folder, run.Recording), run)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func curveOf(path string, run trial.Run) (trial.Curve, error) {
	r, err := recording.Open(path)
	if err != nil {
		return trial.Curve{}, recordingError(err)
	}
	defer r.Close()
	return trial.ReadCurve(r, run)
}
