package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/gomem"
	"github.com/highwater-go/highwater/internal/sample"
)

// touch takes so much memory, writes to all of it and gives it back. A virtual machine
// whose host takes back what is free (free page reporting of virtio-balloon) has it at
// hand then, as one that keeps its memory always has.
func touch(n sample.Bytes) (took time.Duration, err error) {
	began := time.Now()
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0, fmt.Errorf("touch %d MiB: %w", n/sample.MiB, err)
	}
	gomem.InLargePages(b) // as heap's tables
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	took = time.Since(began)
	return took, unix.Munmap(b)
}

// givenBack is how long memory must have been free for a host to have taken it back.
const givenBack = 10 * time.Second

// memory says what memory costs here that nobody had for a while, and what it costs
// again: whatever takes much of it, `heap` too, takes so much longer on an idle machine.
func memory(*room) ([]row, error) {
	const n = sample.GiB
	if _, err := touch(n); err != nil {
		return nil, err
	}
	time.Sleep(givenBack)
	first, err := touch(n)
	if err != nil {
		return nil, err
	}
	again, err := touch(n)
	return []row{{
		What: "A GiB of memory that nobody had for 10 s, and the same again", Figure: fmt.Sprintf("%s, %s", seconds(first), seconds(again)), Pass: true,
		More: "to write to each page of it once, of large pages; the time of one thread",
	}}, err
}
