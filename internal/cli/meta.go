package cli

import (
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// meta is what the recording says of where and how it was made. What cannot be
// read stays absent.
func (p *plan) meta() recording.Meta {
	host, _ := os.Hostname()
	m := recording.Meta{
		Tool:     version(),
		Command:  procfs.Redact(append([]string{p.program}, p.args[1:]...)),
		Host:     host,
		BootID:   readLine("/proc/sys/kernel/random/boot_id"),
		Kernel:   readLine("/proc/sys/kernel/osrelease"),
		CPUs:     runtime.NumCPU(),
		PageSize: os.Getpagesize(),
		At:       time.Now(),
		More:     map[string]string{},
	}
	if p.limitBytes > 0 {
		m.Limit = sample.Some(sample.Bytes(p.limitBytes))
	}
	if p.load != "" {
		m.More["load"] = strings.Join(procfs.Redact(strings.Fields(p.load)), " ")
	}
	return m
}

func readLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
