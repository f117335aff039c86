// Package resp reads commands and writes replies in RESP 2, the protocol of
// Redis (https://redis.io/docs/latest/develop/reference/protocol-spec/). It is
// what raftcache needs of it: commands are arrays of bulk strings, and the same
// form serves as the record in the replicated log.
package resp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Limits of one command; a client that passes them is refused.
const (
	MaxArgs  = 1 << 16
	MaxBytes = 16 << 20 // of all arguments together
)

// ErrProtocol wraps everything that is not RESP. The connection is of no more
// use: nobody knows where the next command begins.
var ErrProtocol = errors.New("protocol error")

// ReadCommand reads one command, name first. It returns io.EOF at a clean end
// and io.ErrUnexpectedEOF within a command. The arguments are the caller's.
func ReadCommand(r *bufio.Reader) ([][]byte, error) {
	n, err := header(r, '*')
	if err != nil {
		return nil, err
	}
	if n < 1 || n > MaxArgs {
		return nil, fmt.Errorf("%w: a command of %d arguments", ErrProtocol, n)
	}
	args := make([][]byte, 0, min(n, 16)) // n is only announced
	left := MaxBytes
	for range n {
		b, err := bulk(r, left)
		if err != nil {
			return nil, inside(err)
		}
		args = append(args, b)
		left -= len(b)
	}
	return args, nil
}

// bulk reads "$5\r\nhello\r\n".
func bulk(r *bufio.Reader, left int) ([]byte, error) {
	n, err := header(r, '$')
	if err != nil {
		return nil, err
	}
	if n < 0 || n > left {
		return nil, fmt.Errorf("%w: an argument of %d bytes", ErrProtocol, n)
	}
	b, err := readN(r, n+2)
	if err != nil {
		return nil, err
	}
	if b[n] != '\r' || b[n+1] != '\n' {
		return nil, fmt.Errorf("%w: no line end after an argument", ErrProtocol)
	}
	return b[:n:n], nil
}

// readN reads n bytes, and takes memory only as they come: n is what a
// stranger announced.
func readN(r io.Reader, n int) ([]byte, error) {
	const step = 64 << 10
	b := make([]byte, 0, min(n, step))
	for len(b) < n {
		more := min(n-len(b), max(len(b), step))
		b = append(b, make([]byte, more)...)
		if _, err := io.ReadFull(r, b[len(b)-more:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// header reads a line of a kind and a number: "*3\r\n".
func header(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return 0, fmt.Errorf("%w: a line too long", ErrProtocol)
	}
	if err != nil {
		if len(line) > 0 {
			return 0, inside(err)
		}
		return 0, err
	}
	if len(line) < 4 || line[0] != kind || line[len(line)-2] != '\r' {
		return 0, fmt.Errorf("%w: %.20q where %q and a number should be", ErrProtocol, line, kind)
	}
	n, err := strconv.Atoi(string(line[1 : len(line)-2]))
	if err != nil {
		return 0, fmt.Errorf("%w: %.20q is no number", ErrProtocol, line[1:len(line)-2])
	}
	return n, nil
}

func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// AppendCommand appends a command as ReadCommand reads it.
func AppendCommand(dst []byte, args ...[]byte) []byte {
	dst = number(dst, '*', int64(len(args)))
	for _, a := range args {
		dst = appendBulk(dst, a)
	}
	return dst
}

// Simple is a reply such as OK that is no data.
type Simple string

// AppendReply appends a reply: nil, a Simple, an int64, a string, a []string
// or an error, whose text begins with a word in capitals.
func AppendReply(dst []byte, reply any) []byte {
	switch v := reply.(type) {
	case nil:
		return append(dst, "$-1\r\n"...)
	case Simple:
		return append(append(append(dst, '+'), v...), "\r\n"...)
	case int64:
		return number(dst, ':', v)
	case string:
		return appendBulk(dst, v)
	case []string:
		dst = number(dst, '*', int64(len(v)))
		for _, s := range v {
			dst = appendBulk(dst, s)
		}
		return dst
	case error:
		return append(append(append(dst, '-'), oneLine(v.Error())...), "\r\n"...)
	default:
		panic(fmt.Sprintf("a reply of type %T", reply))
	}
}

func number(dst []byte, kind byte, n int64) []byte {
	return append(strconv.AppendInt(append(dst, kind), n, 10), "\r\n"...)
}

func appendBulk[T string | []byte](dst []byte, b T) []byte {
	dst = number(dst, '$', int64(len(b)))
	return append(append(dst, b...), "\r\n"...)
}

// oneLine keeps a client's own bytes, quoted in an error, from ending the reply.
func oneLine(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '\r' || b[i] == '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}
