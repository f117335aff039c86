package web

// A page that is redacted is made of a redacted recording (recording.OpenRedacted):
// nothing that is to be left out reaches it. What is here leaves out rows that would
// say nothing then.

// redact drops the settings of which nothing is left.
func (o *Overview) redact() {
	kept := o.Environment[:0]
	for _, s := range o.Environment {
		switch s.Name {
		case "command", "load", "ready", "host", "revision":
		default:
			kept = append(kept, s)
		}
	}
	o.Environment = kept
}

func (i *Instant) redact() {
	for n := range i.Heap.Lines {
		if l := &i.Heap.Lines[n]; l.Code == nil {
			l.CodeWhy = "source is left out"
		}
	}
	for n := range i.Grown {
		for m := range i.Grown[n].Lines {
			if l := &i.Grown[n].Lines[m]; l.Code == nil {
				l.CodeWhy = "source is left out"
			}
		}
	}
}
