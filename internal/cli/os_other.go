//go:build !linux

package cli

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func exitCodeOf(state *os.ProcessState) int { return state.ExitCode() }

func forwarded() []os.Signal { return []os.Signal{os.Interrupt} }
