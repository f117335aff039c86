//go:build unix

package watch

import (
	"os"
	"syscall"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
)

func setpgid(own bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: own} }

func statusOf(state *os.ProcessState) lastbreath.Status {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return lastbreath.Status{Code: state.ExitCode()}
	}
	return lastbreath.Status{Signal: int(ws.Signal()), Core: ws.CoreDump()}
}
