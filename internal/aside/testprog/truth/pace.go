package truth

import "time"

// PageSize is the step in which Touch writes; no page of a machine that these
// programs run on is smaller.
const PageSize = 4096

// Touch writes one byte to every page of b, so that each has memory behind it.
func Touch(b []byte) {
	for i := 0; i < len(b); i += PageSize {
		b[i] = 1
	}
}

// Pace slows a loop that makes bytes down to a rate. Its zero value does not
// slow anything.
type Pace struct {
	PerSecond Size
	start     time.Time
	made      Size
}

// Made counts n more bytes, and waits as long as the rate is exceeded.
func (p *Pace) Made(n Size) {
	if p.PerSecond == 0 {
		return
	}
	if p.start.IsZero() {
		p.start = time.Now()
	}
	p.made += n
	due := p.start.Add(time.Duration(float64(p.made) / float64(p.PerSecond) * float64(time.Second)))
	time.Sleep(time.Until(due))
}
