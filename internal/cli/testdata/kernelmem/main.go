// Kernelmem is a program whose memory is the kernel's: unread data of sockets, or the names of files that it looked for
// and that there are none of.
package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// sockets connects n times and writes to each connection until nobody takes any more.
func sockets(n int) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var kept []net.Conn
	block := make([]byte, 64<<10)
	for range n {
		from, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return err
		}
		to, err := l.Accept()
		if err != nil {
			return err
		}
		kept = append(kept, from, to)
		for err == nil {
			if err = from.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err == nil {
				_, err = from.Write(block)
			}
		}
	}
	time.Sleep(5 * time.Second)
	return kept[0].Close()
}

// names looks for n files that there are none of: the kernel remembers each (a negative dentry).
func names(dir string, n int) error {
	for i := range n {
		if _, err := os.Stat(filepath.Join(dir, "no-file-of-this-name-"+strconv.Itoa(i))); !os.IsNotExist(err) {
			return fmt.Errorf("it is there: %w", err)
		}
	}
	time.Sleep(5 * time.Second)
	return nil
}

func main() {
	n, err := strconv.Atoi(os.Args[2])
	if err == nil && os.Args[1] == "sockets" {
		err = sockets(n)
	} else if err == nil {
		err = names(os.Args[1], n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
