// Target is a program that ends in the way its first argument says. It prints
// the address of a megabyte of known bytes, and waits for a line where it is to
// be killed.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var keep [][]byte

func main() {
	known := pattern()
	fmt.Printf("%#x %d\n", uintptr(unsafe.Pointer(&known[0])), os.Getpid())
	switch args := os.Args[2:]; os.Args[1] {
	case "wait":
		wait()
	case "churn": // makes garbage as fast as it can, and waits; then execs if told so
		go churn()
		wait()
		if len(args) > 0 {
			panic(syscall.Exec(args[0], args, os.Environ()))
		}
	case "children": // each line tells how many to start
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			n, _ := strconv.Atoi(in.Text())
			for range n {
				go spawn(args, nil)
			}
		}
	case "come and go": // takes a page and gives it back, all the time
		go func() {
			for {
				page, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
				if err != nil {
					panic(err)
				}
				page[0] = 1
				syscall.Munmap(page)
			}
		}()
		wait()
	case "stay":
		time.Sleep(time.Hour)
	case "exit":
		code, _ := strconv.Atoi(args[0])
		os.Exit(code)
	case "panic":
		panic("as asked")
	case "nil":
		fmt.Println(*(*int)(unsafe.Pointer(uintptr(len(args)))))
	case "term":
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		select {}
	case "exec": // from a thread that is not the first
		runtime.LockOSThread()
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			panic(syscall.Exec(args[0], args, os.Environ()))
		}()
		<-done
	case "spawn":
		fmt.Println(spawn(args, os.Stdin))
	case "threads": // threads that end alone
		n, _ := strconv.Atoi(args[0])
		threads(n, 1)
	case "crowd": // so many at once, thrice
		n, _ := strconv.Atoi(args[0])
		for range 3 {
			threads(1, n)
		}
	case "many": // so many threads, until its input ends
		n, _ := strconv.Atoi(args[0])
		debug.SetMaxThreads(2*n + 100)
		var there sync.WaitGroup
		for range n {
			there.Add(1)
			go func() {
				runtime.LockOSThread()
				there.Done()
				syscall.Pause()
			}()
		}
		there.Wait()
		fmt.Println("there")
		wait()
	case "alloc":
		for {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			keep = append(keep, b)
		}
	case "work": // a fixed job with much garbage; prints its CPU time in ns
		work()
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		fmt.Println(time.Duration(u.Utime.Nano() + u.Stime.Nano()).Nanoseconds())
	}
	runtime.KeepAlive(known)
}

// wait says that it lives at the first line, and returns at the next.
func wait() {
	in := bufio.NewReader(os.Stdin)
	in.ReadString('\n')
	fmt.Println("lives")
	in.ReadString('\n')
}

func spawn(args []string, stdin *os.File) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout = os.Stdout
	if stdin != nil {
		cmd.Stdin = stdin
	}
	return cmd.Run()
}

// threads makes as many threads, at once, and ends them, so often.
func threads(often, atOnce int) {
	for range often {
		var all, there sync.WaitGroup
		there.Add(atOnce)
		for range atOnce {
			all.Go(func() {
				runtime.LockOSThread() // its thread ends with the goroutine
				there.Done()
				there.Wait()
			})
		}
		all.Wait()
	}
}

func churn() {
	for {
		work()
	}
}

// pattern is a megabyte, written by the formula that the test knows.
func pattern() []byte {
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

type node struct {
	next *node
	data [6]int
}

func work() {
	done := make(chan bool)
	for range 4 {
		go func() {
			for range 150 {
				var list *node
				for range 20000 {
					list = &node{next: list}
				}
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
}
