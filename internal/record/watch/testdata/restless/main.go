// Restless is a program that maps and unmaps memory, collects garbage, and becomes
// itself anew once its heap profile was switched on, as often as its first argument says.
package main

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func main() {
	left, err := strconv.Atoi(os.Args[1])
	if err != nil || left == 0 {
		time.Sleep(time.Second) // what ends at once may be gone before it is caught
		os.Exit(9)
	}
	least, most := time.Now().Add(30*time.Millisecond), time.Now().Add(10*time.Second)
	for now := time.Now(); now.Before(least) || runtime.MemProfileRate == 0 && now.Before(most); now = time.Now() {
		mem, err := syscall.Mmap(-1, 0, 1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			panic(err)
		}
		mem[left%len(mem)] = 1
		garbage := make([][]byte, 200)
		for i := range garbage {
			garbage[i] = make([]byte, 4096)
		}
		runtime.GC()
		if err := syscall.Munmap(mem); err != nil {
			panic(err)
		}
	}
	panic(syscall.Exec("/proc/self/exe", []string{os.Args[0], strconv.Itoa(left - 1)}, os.Environ()))
}
