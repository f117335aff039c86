// Command tracer traces a program to its end, as a debugger does:
//
//	tracer [-attach] PROGRAM [ARGS...]
//
// It ends with code 1 where it may not. Built with the tag "raw" it makes its system calls
// by their numbers, so that no function of it is called after ptrace.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

func main() {
	attach := flag.Bool("attach", false, "start the program and trace it then")
	flag.Parse()
	runtime.LockOSThread() // ptrace is of the thread
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: !*attach}
	check("start it", cmd.Start())
	pid := cmd.Process.Pid
	if *attach {
		check("attach to it", attachTo(pid))
	}
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(pid, &ws, 0, nil)
		check("wait for it", err)
		if ws.Exited() {
			fmt.Printf("traced it to its end: code %d\n", ws.ExitStatus())
			return
		}
		sig := ws.StopSignal()
		if sig == syscall.SIGTRAP || sig == syscall.SIGSTOP { // of the execve and of the attaching
			sig = 0
		}
		check("let it run", resume(pid, int(sig)))
	}
}

func check(what string, err error) {
	if err != nil {
		fmt.Printf("cannot %s: %v\n", what, err)
		os.Exit(1)
	}
}
