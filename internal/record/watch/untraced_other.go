//go:build !unix

package watch

import (
	"os"
	"syscall"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
)

func setpgid(bool) *syscall.SysProcAttr { return nil }

func statusOf(state *os.ProcessState) lastbreath.Status {
	return lastbreath.Status{Code: state.ExitCode()}
}
