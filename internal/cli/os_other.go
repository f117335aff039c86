//go:build !linux

package cli

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func endWithUs(*exec.Cmd, string) (release func(), err error) { return func() {}, nil }

func endGroup(*exec.Cmd) {}

func exitCodeOf(state *os.ProcessState) int { return state.ExitCode() }

func forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

func reap(int) int { return exitFailed }

func forgetExecutable() {}

func hasDesktop() bool { return true }

// desktopOpeners are the commands of macOS and Windows that open an address.
func desktopOpeners() [][]string {
	return [][]string{{"open"}, {"rundll32", "url.dll,FileProtocolHandler"}}
}
