// Pagecache writes a file of Total and reads it again and again: the cgroup's
// charge is page cache, which the kernel can take back. Repaired, it tells the
// kernel that it does not need the pages.
package main

import (
	"log"
	"os"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	file, err := os.CreateTemp(".", "table-")
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(file.Name())
	part := frame.Touch(make([]byte, 1<<20))
	for range f.Total >> 20 {
		if _, err := file.Write(part); err != nil {
			log.Fatal(err)
		}
		release(file, f.Repaired)
	}
	for !f.Over() {
		if _, err := file.ReadAt(part, time.Now().UnixNano()%(f.Total-1<<20)); err != nil { // truth: reads
			log.Fatal(err)
		}
		release(file, f.Repaired)
		time.Sleep(time.Millisecond)
	}
}

// release drops the file's pages, once they are on disk.
func release(file *os.File, repaired bool) {
	if !repaired {
		return
	}
	const dontNeed = 4 // POSIX_FADV_DONTNEED, include/uapi/linux/fadvise.h
	syscall.Fdatasync(int(file.Fd()))
	syscall.Syscall6(syscall.SYS_FADVISE64, file.Fd(), 0, 0, dontNeed, 0, 0)
}
