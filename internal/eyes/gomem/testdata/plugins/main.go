// Command plugins opens the plugin that PLUGIN names at the command "open", which
// keeps memory in a variable of its own and starts a goroutine. At "profile" it
// prints what its heap profile says of allocations of 123 bytes or more: a line
// "allocations FRAME FRAME" for each stack, and at "wait" where the plugin's
// goroutine waits; a frame is FUNCTION=FILE:LINE.
package main

import (
	"bufio"
	"fmt"
	"os"
	"plugin"
	"runtime"
	"sort"
	"strings"
)

func main() {
	runtime.MemProfileRate = 1
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch in.Text() {
		case "gc":
			runtime.GC()
			runtime.GC()
		case "open":
			if err := open(); err != nil {
				fmt.Println(err)
			}
		case "profile":
			profile()
		}
		fmt.Println("END")
	}
}

func open() error {
	p, err := plugin.Open(os.Getenv("PLUGIN"))
	if err != nil {
		return err
	}
	start, err := p.Lookup("Start")
	if err == nil {
		start.(func(int))(32 << 20)
	}
	return err
}

func profile() {
	records := make([]runtime.MemProfileRecord, 10000)
	n, _ := runtime.MemProfile(records, true)
	var lines []string
	for _, r := range records[:n] {
		if line := fmt.Sprint(r.AllocObjects, " ", frames(r.Stack())); strings.Contains(line, "plugin.go") {
			lines = append(lines, line)
		}
	}
	sort.Strings(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
}

func frames(stack []uintptr) string {
	var all []string
	for frames := runtime.CallersFrames(stack); ; {
		f, more := frames.Next()
		if f.Function != "runtime.goexit" {
			all = append(all, fmt.Sprintf("%s=%s:%d", f.Function, f.File, f.Line))
		}
		if !more {
			return strings.Join(all, " ")
		}
	}
}
