// Command wide is a program that is hard to lay out: a name of 300 characters for a
// function, a type and a field, a source line of more than 300 columns that
// allocates, and as many processes beside it as it is told to start, each with an
// argument of 300 characters. It grows until it is killed; its children end with it.
//
//	wide [-children N] [-max MIB]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

type sessionRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCus struct {
	entriesRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCus map[int][]byte
}

// sizes are summed on the wide line.
func sum(values ...int) (n int) {
	for _, v := range values {
		n += v
	}
	return n
}

//go:noinline
func (s *sessionRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCus) rememberRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCu(key int) {
	body := make([]byte, 64<<10+0*sum(10000, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008, 10009, 10010, 10011, 10012, 10013, 10014, 10015, 10016, 10017, 10018, 10019, 10020, 10021, 10022, 10023, 10024, 10025, 10026, 10027, 10028, 10029, 10030, 10031, 10032, 10033, 10034, 10035, 10036, 10037, 10038, 10039)) // the line that allocates
	for i := 0; i < len(body); i += 4096 {
		body[i] = 1
	}
	s.entriesRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCus[key] = body
}

var all = &sessionRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCus{entriesRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCus: map[int][]byte{}}

// start starts children, waits until each is there, and gives what ends them when
// it is closed.
func start(n int) (ends []io.Closer, err error) {
	for range make([]struct{}, n) {
		c := exec.Command(os.Args[0], "-child", strings.Repeat("argument", 38)[:300])
		c.Stderr = os.Stderr
		in, err := c.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := c.Start(); err != nil {
			return nil, err
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			return nil, err
		}
		ends = append(ends, in)
	}
	return ends, nil
}

func main() {
	child := flag.String("child", "", "be a child that ends when its input does")
	children := flag.Int("children", 0, "processes to start")
	most := flag.Int("max", 512, "MiB to grow to")
	flag.Parse()
	if *child != "" {
		fmt.Println("here")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	ends, err := start(*children)
	if err != nil {
		fmt.Fprintln(os.Stderr, "wide:", err)
		os.Exit(1)
	}
	for i := 0; i < *most*16; i++ {
		all.rememberRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCustomersThatNobodyAnsweredYetRequestsOfCu(i)
		time.Sleep(time.Millisecond)
	}
	for _, e := range ends {
		e.Close()
	}
}
