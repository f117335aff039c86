package report

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
)

// processes prints who had the memory where several processes ran.
func (p *page) processes(a *explain.Answer, most int) {
	list := a.Program.Processes
	if len(list) < 2 || most == 0 {
		return
	}
	p.addf("PROCESSES: %d", len(list))
	rest := row{}
	n := 0
	unit := true
	for i, one := range list {
		if i >= most && !one.Subject && len(list) > most+1 {
			rest.bytes, n = rest.bytes+int64(one.Bytes), n+1
			continue
		}
		left := fmt.Sprintf("  %11s %3.0f%%  ", mib(int64(one.Bytes), unit), percent(int64(one.Bytes), a.Ledger.TotalBytes))
		right := fmt.Sprintf("pid %d", one.PID)
		if one.Signal == "SIGKILL" && a.Outcome.Kernel {
			right += ", OOM-killed"
		}
		p.both(left+cut(strings.TrimSpace(one.Name+" "+one.Args), p.right()-columns(left)-columns(right)-2), right)
		unit = false
	}
	if n > 0 {
		p.addf("  %11s %3.0f%%  %s", mib(rest.bytes, unit), percent(rest.bytes, a.Ledger.TotalBytes), otherProcesses(n))
	}
}

func otherProcesses(n int) string {
	if n == 1 {
		return "1 other process"
	}
	return fmt.Sprintf("%d other processes", n)
}
