//go:build unix

// Mmapper is a program that maps anonymous memory by system call and touches a
// part of it: memory outside Go's heap and outside C's malloc, of which the
// kernel charges only what was touched. Its verdict is native memory, or
// shared memory where the mappings are shared.
//
// The linker has switched its heap profile off.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// take maps one piece and touches its first bytes; the rest stays reserved.
func take(piece, touched truth.Size, how int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, int(piece), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|how) // truth: mmap
	if err != nil {
		return nil, err
	}
	truth.Touch(b[:touched])
	return b, nil
}

func main() {
	piece, touched, limit, rate := 16*truth.MiB, 8*truth.MiB, truth.GiB, 80*truth.MiB
	flag.Var(&piece, "piece", "bytes of one mapping")
	flag.Var(&touched, "touch", "bytes of it that are touched")
	flag.Var(&limit, "max", "stop at so many bytes mapped")
	flag.Var(&rate, "rate", "bytes mapped a second; 0: as fast as it goes")
	lasts := flag.Duration("for", 30*time.Second, "end after this time")
	shared := flag.Bool("shared", false, "share the mappings with children, of which it has none")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	touched = min(touched, piece)
	if *tell {
		class := map[bool]string{false: "native", true: "shmem"}[*shared]
		t := truth.Truth{Program: "mmapper", Class: class, ClassUnlimited: class}
		t.NativeBytes, t.ObjectBytes = int64(limit/piece*touched), int64(piece)
		t.Mark(source, "mmap")
		t.Print()
	}
	how := syscall.MAP_PRIVATE
	if *shared {
		how = syscall.MAP_SHARED
	}
	if err := run(piece, touched, limit, rate, *lasts, how); err != nil {
		fmt.Fprintln(os.Stderr, "mmapper:", err)
		os.Exit(1)
	}
}

func run(piece, touched, limit, rate truth.Size, lasts time.Duration, how int) error {
	end := time.Now().Add(lasts)
	pace := truth.Pace{PerSecond: rate}
	var kept [][]byte
	for mapped := piece; mapped <= limit && time.Now().Before(end); mapped += piece {
		b, err := take(piece, touched, how)
		if err != nil {
			return err
		}
		kept = append(kept, b)
		fmt.Println("mapped", mapped.Progress(), "touched", (truth.Size(len(kept)) * touched).Progress())
		pace.Made(piece)
	}
	time.Sleep(time.Until(end))
	fmt.Println("ended with", len(kept), "mappings")
	return nil
}
