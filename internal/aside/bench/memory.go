package main

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// touch takes so much memory, writes to all of it and gives it back. A virtual machine
// whose host takes back what is free (free page reporting of virtio-balloon) has it at
// hand then, as one that keeps its memory always has.
func touch(n sample.Bytes) (took time.Duration, err error) {
	began := time.Now()
	b, err := written(n, unix.MADV_HUGEPAGE) // as heap's tables
	if err != nil {
		return 0, err
	}
	return time.Since(began), unix.Munmap(b)
}

// touchAll is touch before an answer that takes so much: of twice as much, as what is
// given back meanwhile comes again from elsewhere, and of a quarter of that in small pages
// at the same time, which the kernel keeps apart. It leaves half of what is free alone.
func touchAll(answer sample.Bytes) error {
	free, err := figureIn("/proc/meminfo", "MemAvailable")
	if err != nil {
		return err
	}
	n := min(2*answer, free*2/5)
	large, err := written(n, unix.MADV_HUGEPAGE)
	if err != nil {
		return err
	}
	small, err := written(n/4, unix.MADV_NOHUGEPAGE)
	if err == nil {
		err = unix.Munmap(small)
	}
	return errors.Join(err, unix.Munmap(large))
}

// written is memory each page of which was written to.
func written(n sample.Bytes, advice int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("touch %d MiB: %w", n/sample.MiB, err)
	}
	_ = unix.Madvise(b, advice) // it is no error if that cannot be
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b, nil
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
