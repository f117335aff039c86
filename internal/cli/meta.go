package cli

import (
	"maps"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// meta is what the recording says of where and how it was made.
func (p *plan) meta() recording.Meta {
	m := newMeta(p.keepArgs.command(p.commandLine()))
	if p.limitBytes > 0 {
		m.Limit = sample.Some(sample.Bytes(p.limitBytes))
	}
	if p.load != "" {
		m.More["load"] = p.keepArgs.shell(p.load)
	}
	p.asks.describe(m.More)
	p.expect.describe(m.More)
	maps.Copy(m.More, p.more)
	return m
}

// newMeta is what a recording says of this machine, and of a command line without
// secrets. What cannot be read stays absent.
func newMeta(command []string) recording.Meta {
	host, _ := os.Hostname()
	return recording.Meta{
		Tool:     version(),
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
