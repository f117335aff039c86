package web

import (
	"path/filepath"

	"github.com/highwater-go/highwater/internal/measure/pacer"
)

// Tuning is what the run would have needed under other settings of the collector,
// as highwater tune predicts it. Answer is null where nothing can be predicted; Why
// then says why.
type Tuning struct {
	Answer *pacer.Answer `json:"answer"`
	Why    string        `json:"why"`
}

// Tuning predicts from the recording as a whole. It takes a while of a long one, and
// keeps nobody else from reading meanwhile.
func (b *Book) Tuning() (*Tuning, error) {
	b.tuning.Lock()
	defer b.tuning.Unlock()
	return once(&b.tuned, "", func() (*Tuning, bool, error) {
		r, err := b.opener()(b.Path)
		if err != nil {
			return nil, false, err
		}
		defer r.Close()
		h, err := pacer.Load(r)
		if err != nil {
			return &Tuning{Why: err.Error()}, !r.Live(), nil
		}
		return &Tuning{Answer: pacer.Tune(h, pacer.Options{Recording: filepath.Base(b.Path)})}, !r.Live(), nil
	})
}
