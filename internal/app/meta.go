package app

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// meta is what the recording says of where and how it was made.
func (p *plan) meta() recording.Meta {
	m := newMeta(p.KeepArgs.command(p.commandLine()))
	if p.limitBytes > 0 {
		m.Limit = sample.Some(sample.Bytes(p.limitBytes))
	}
	if p.Load != "" {
		m.More[metaLoad] = p.KeepArgs.shell(p.Load)
	}
	p.describe(m.More)
	p.asks.describe(m.More)
	p.Expect.describe(m.More)
	maps.Copy(m.More, p.more)
	if code, err := ownCode(&m, true); err == nil { // else try asks
		m.More[metaOwn] = code
	}
	return m
}

// describe is what try needs to run the same again: where, until when, and what was set
// for Go's runtime. A value that looks secret is no such setting.
func (p *plan) describe(more map[string]string) {
	more[metaDir], more[metaReady] = p.dir, p.KeepArgs.word(p.Ready)
	if dir, err := os.Getwd(); err == nil && p.dir == "" {
		more[metaDir] = dir
	}
	if p.RunFor > 0 {
		more[metaFor] = p.RunFor.String()
	}
	var set []string
	for _, e := range append(os.Environ(), p.env...) {
		if name, _, _ := strings.Cut(e, "="); slices.Contains(goSettings, name) {
			set = append(set, e)
		}
	}
	more[metaSettings] = strings.Join(p.KeepArgs.settings(set), " ")
	maps.DeleteFunc(more, func(_, value string) bool { return value == "" })
}

// goSettings are what Go's runtime reads from its environment (runtime package,
// "Environment Variables").
var goSettings = []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"}

// The keys of what try needs to run the same again.
const (
	metaLoad     = "load"
	metaDir      = "dir"
	metaReady    = "ready"
	metaFor      = "for"
	metaSettings = "settings"
)

// newMeta is what a recording says of this machine, and of a command line without
// secrets. What cannot be read stays absent.
func newMeta(command []string) recording.Meta {
	host, _ := os.Hostname()
	return recording.Meta{
		Tool:     Version(),
		Command:  command,
		Host:     host,
		BootID:   readLine("/proc/sys/kernel/random/boot_id"),
		Kernel:   readLine("/proc/sys/kernel/osrelease"),
		CPUs:     runtime.NumCPU(),
		PageSize: os.Getpagesize(),
		At:       time.Now(),
		More:     map[string]string{},
	}
}

func readLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
