//go:build !linux

package app

import (
	"io/fs"
	"os"
	"os/exec"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func ownGroup(*exec.Cmd) {}

func endWithUs(*exec.Cmd, string) (release func(), err error) { return func() {}, nil }

func endGroup(*exec.Cmd) {}

func exitCodeOf(state *os.ProcessState) int { return state.ExitCode() }

func forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

func reap(int) int { return ExitFailed }

func forgetExecutable() {}

func hasDesktop() bool { return true }

// desktopOpeners are the commands of macOS and Windows that open an address.
func desktopOpeners() [][]string {
	return [][]string{{"open"}, {"rundll32", "url.dll,FileProtocolHandler"}}
}

func usedMemory() sample.Bytes { return goMemory() }

// usedTime is a clock: what this process has taken of its processors is at most that,
// times their number.
func usedTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

func owned(fs.FileInfo) bool { return false }

func Columns(*os.File) int { return defaultColumns }
