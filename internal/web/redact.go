package web

import (
	"github.com/highwater-go/highwater/internal/explain"
)

// redactAnswer leaves out directories, command lines and notes. Names of functions
// and packages stay: without them there is no answer.
func redactAnswer(a *explain.Answer) {
	for i := range a.Program.Processes {
		a.Program.Processes[i].Args = ""
	}
	if c := a.Verdict.Culprit; c != nil {
		c.File = explain.ShortFile(c.File)
	}
	for _, list := range [][]explain.Holder{a.Holders, a.Allocators} {
		for i := range list {
			list[i].File = explain.ShortFile(list[i].File)
		}
	}
	for i := range a.Fixes {
		a.Fixes[i].Command = ""
	}
	a.Verdict.Next = []string{}
	a.Verdict.Note = nil
}

// redact leaves the same out of the rest of the page.
func (o *Overview) redact() {
	for i := range o.Programs {
		o.Programs[i].Args = ""
	}
	for i := range o.Events {
		switch o.Events[i].Kind {
		case "note", "load-start", "load-end", "ready", "exec":
			o.Events[i].Text = ""
		}
	}
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
	for n := range i.Processes {
		i.Processes[n].Args = ""
	}
	for n := range i.Heap.Lines {
		l := &i.Heap.Lines[n]
		l.File = explain.ShortFile(l.File)
		if l.Code == nil {
			l.CodeWhy = "source is left out"
		}
	}
}
