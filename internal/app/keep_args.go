package app

import (
	"path/filepath"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// KeepArgs says whether the values of arguments go into files: --keep-args. Those
// that look secret never do.
type KeepArgs bool

// command is a program's command line as a file has it.
func (k KeepArgs) command(p sample.Program) []string {
	if k {
		return procfs.Redact(p.Args)
	}
	return procfs.Withhold(p)
}

// shell is a shell's command as a file has it.
func (k KeepArgs) shell(command string) string {
	if k {
		return procfs.RedactShell(command)
	}
	return procfs.WithholdShell(command)
}

// word is one value, an address.
func (k KeepArgs) word(word string) string {
	if k {
		return procfs.RedactText(word)
	}
	return procfs.WithholdWord(word)
}

// settings are an environment's.
func (k KeepArgs) settings(list []string) []string {
	if k {
		return procfs.Redact(list)
	}
	return procfs.WithholdSettings(list)
}

// variant is how a variant of a trial is started, as a shell reads it.
func (k KeepArgs) variant(c trial.Command) string {
	text := explain.Shell(k.command(sample.Program{Name: filepath.Base(c.Args[0]), Args: c.Args})...)
	if len(c.Env) > 0 {
		text = explain.Shell(k.settings(c.Env)...) + " " + text
	}
	return text
}

// startedAs is what whoever watches knows of how the program was started, and what the
// recording may leave out: the answer that is printed at the end of the watch can
// repeat the run, and one from the file cannot. The zero value knows nothing.
type startedAs struct {
	command     []string
	load, ready string
}

// asTyped is the run as it was typed, without what looks secret.
func (p *plan) asTyped() startedAs {
	return startedAs{command: procfs.Redact(p.commandLine().Args), load: procfs.RedactShell(p.Load), ready: procfs.RedactText(p.readiness.String())}
}

// commandLine is the program that is run.
func (p *plan) commandLine() sample.Program {
	return sample.Program{Name: filepath.Base(p.program), Args: append([]string{p.program}, p.args[1:]...)}
}

// fillIn puts it into the evidence of its own watch.
func (t startedAs) fillIn(e *explain.Evidence) {
	if t.command == nil {
		return
	}
	e.Command, e.Load = t.command, t.load
	if e.Ready != "" {
		e.Ready = t.ready
	}
}
