// Command probe is a Go program that says about itself what gobin says about its
// file. "probe pcs STEP" prints what the runtime knows of every STEP-th byte of
// code, "probe profile FILE" writes the heap profile to FILE and prints the same
// stacks as addresses.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"

	"example.com/probe/inside"
)

var native = func() int { return 42 }

func main() {
	if len(os.Args) < 3 || native() != 42 {
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintf(out, "start\t%#x\n", mappingStart())
	switch os.Args[1] {
	case "pcs":
		pcs(out, os.Args[2])
	case "profile":
		profile(out, os.Args[2])
	}
}

// mappingStart is where the file's first byte is mapped.
func mappingStart() uint64 {
	exe, err := os.Readlink("/proc/self/exe")
	check(err)
	maps, err := os.ReadFile("/proc/self/maps")
	check(err)
	for _, line := range bytes.Split(maps, []byte("\n")) {
		w := bytes.Fields(line)
		if len(w) == 6 && string(w[5]) == exe && string(w[2]) == "00000000" {
			lo, _, _ := bytes.Cut(w[0], []byte("-"))
			n, err := strconv.ParseUint(string(lo), 16, 64)
			check(err)
			return n
		}
	}
	panic("no mapping of " + exe)
}

func pcs(out *bufio.Writer, arg string) {
	step, err := strconv.Atoi(arg)
	check(err)
	text, etext := inside.Range()
	for pc := text; pc < etext; pc += uintptr(step) {
		if inside.Last(pc) {
			continue
		}
		calls, sp, id, flag, ok := inside.At(pc)
		if !ok {
			fmt.Fprintf(out, "none\t%#x\n", pc)
			continue
		}
		fmt.Fprintf(out, "pc\t%#x\t%d\t%d\t%d\n", pc, sp, id, flag)
		for _, c := range calls {
			fmt.Fprintf(out, "call\t%s\t%s\t%s\t%d\t%d\t%#x\n", c.Func, c.Symbol, c.File, c.Line, c.StartLine, c.Entry)
		}
	}
}

func profile(out *bufio.Writer, file string) {
	runtime.MemProfileRate = 1
	shapes()
	runtime.MemProfileRate = 0
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 10000)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		panic("too many records")
	}
	for _, r := range records[:n] {
		fmt.Fprint(out, "stack")
		for _, pc := range r.Stack() {
			fmt.Fprintf(out, "\t%#x", pc)
		}
		fmt.Fprintln(out)
	}
	f, err := os.Create(file)
	check(err)
	check(pprof.Lookup("heap").WriteTo(f, 0))
	check(f.Close())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
