package cgroup_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// hogVariable makes the test's own executable a program that touches that many
// bytes, says so, and waits for the end of its input. It needs no toolchain,
// hence runs in the guest as well.
const hogVariable = "CGROUP_TEST_HOG"

func TestMain(m *testing.M) {
	if text := os.Getenv(hogVariable); text != "" {
		hog(text)
		return
	}
	os.Exit(m.Run())
}

func hog(text string) {
	bytes, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	line := make([]byte, 1)
	os.Stdin.Read(line) // the parent has moved us
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(i)
	}
	fmt.Println("touched")
	os.Stdin.Read(line)
	if b[len(b)-1] == 1 {
		fmt.Println() // keeps b
	}
}

// aHog starts a hog and holds it before its first touch, until begin is called.
type aHog struct {
	*exec.Cmd
	stdin  *os.File
	stdout *os.File
}

func startHog(t *testing.T, bytes int) *aHog {
	t.Helper()
	h := &aHog{Cmd: exec.Command(os.Args[0])}
	h.Env = append(os.Environ(), hogVariable+"="+strconv.Itoa(bytes))
	childIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	h.Stdin, h.Stdout, h.Stderr = childIn, childOut, os.Stderr
	h.stdin, h.stdout = in, out
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	childIn.Close()
	childOut.Close()
	t.Cleanup(func() {
		in.Close()
		out.Close()
		h.Process.Kill()
		h.Wait()
	})
	return h
}

// begin lets it touch its memory and waits until it has, or has died.
func (h *aHog) begin(t *testing.T) (alive bool) {
	t.Helper()
	if _, err := h.stdin.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 32)
	n, _ := h.stdout.Read(b)
	return strings.HasPrefix(string(b[:n]), "touched")
}
