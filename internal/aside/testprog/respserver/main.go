// Respserver speaks as much of RESP, the protocol of Redis, as answers PING and
// SET; it keeps the last value of each key. With -loading it answers every command
// with an error for that long, as Redis does while it reads its data. It listens on
// loopback only.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"testprog/truth"
)

// store is what SET leaves.
type store struct {
	ready time.Time

	mu     sync.Mutex
	values map[string]string
}

// serve answers the commands of one connection.
func (s *store) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		words, err := command(r)
		if err != nil {
			return
		}
		if _, err := io.WriteString(conn, s.answer(words)); err != nil {
			return
		}
	}
}

func (s *store) answer(words []string) string {
	switch {
	case time.Now().Before(s.ready):
		return "-LOADING reading the data\r\n"
	case len(words) == 1 && words[0] == "PING":
		return "+PONG\r\n"
	case len(words) == 3 && words[0] == "SET":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.values[words[1]] = words[2]
		return "+OK\r\n"
	}
	return "-ERR unknown command\r\n"
}

// command reads an array of bulk strings.
func command(r *bufio.Reader) ([]string, error) {
	n, err := number(r, '*', 16)
	if err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		size, err := number(r, '$', 1<<16)
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		words[i] = string(b[:size])
	}
	return words, nil
}

func number(r *bufio.Reader, kind byte, most int) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, string(kind))))
	if err != nil || line[0] != kind || n < 0 || n > most {
		return 0, fmt.Errorf("%q is no length", line)
	}
	return n, nil
}

func main() {
	address := flag.String("addr", "127.0.0.1:0", "loopback address to listen on; port 0: a free one")
	loading := flag.Duration("loading", 0, "answer with an error for this time")
	lasts := flag.Duration("for", 5*time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		truth.Truth{Program: "respserver", Class: "healthy", ClassUnlimited: "healthy"}.Print()
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "respserver:", err)
		os.Exit(1)
	}
	fmt.Println("ready at", l.Addr())
	time.AfterFunc(*lasts, func() { l.Close() })
	s := &store{ready: time.Now().Add(*loading), values: map[string]string{}}
	for {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		go s.serve(conn)
	}
	fmt.Println("ended with", len(s.values), "keys")
}
