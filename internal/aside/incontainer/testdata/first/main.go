// First does what the first process of a container has to cope with: it gets signals,
// leaves children behind, and has children that leave theirs.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	switch os.Args[1] {
	case "signals": // ends with 23 when it is told to
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		fmt.Println("waiting")
		<-told
		fmt.Println("told to end")
		os.Exit(23)
	case "leaves": // a child that would stay
		start("stays", os.Stdout)
		os.Exit(5)
	case "stays":
		time.Sleep(time.Hour)
	case "orphans": // until the children of its child are gone, zombies too
		middle := start("middle", nil)
		middle.Wait()
		for end := time.Now().Add(20 * time.Second); left() > 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		}
		fmt.Println("zombies:", left())
	case "middle":
		for range 3 {
			start("brief", nil)
		}
	case "brief":
		time.Sleep(200 * time.Millisecond) // it outlives its parent
	}
}

func start(mode string, out *os.File) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", mode)
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// left is how many processes there are but the first one, this one and none.
func left() (n int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range dirs {
		b, _ := os.ReadFile(path)
		pid, _ := strconv.Atoi(strings.Fields(string(b) + " 0")[0])
		if pid > 1 && pid != os.Getpid() {
			n++
		}
	}
	return n
}
