package resp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func reader(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) }

func TestCommandsAreReadOneAfterTheOther(t *testing.T) {
	r := reader("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n\r\n\r\n")
	for _, want := range []string{"GET|k", "SET||\r\n\r\n"} {
		args, err := ReadCommand(r)
		if got := string(bytes.Join(args, []byte("|"))); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if _, err := ReadCommand(r); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestWhatIsNoCommandIsRefused(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"*2\r\n$3\r\nGET\r\n", io.ErrUnexpectedEOF},
		{"*2\r\n$3\r\nGE", io.ErrUnexpectedEOF},
		{"*2", io.ErrUnexpectedEOF},
		{"GET k\r\n", ErrProtocol},
		{"*0\r\n", ErrProtocol},
		{"*-1\r\n", ErrProtocol},
		{"*x\r\n", ErrProtocol},
		{"*1\n", ErrProtocol},
		{"*65537\r\n", ErrProtocol},
		{"*1\r\n$-1\r\n", ErrProtocol},
		{"*1\r\n$99999999999\r\n", ErrProtocol},
		{"*1\r\n$3\r\nGETxx", ErrProtocol},
		{"*1\r\n:3\r\n", ErrProtocol},
		{strings.Repeat("*", 10_000), ErrProtocol},
	} {
		if args, err := ReadCommand(reader(c.in)); !errors.Is(err, c.want) {
			t.Errorf("%.30q: %q, %v; want %v", c.in, args, err, c.want)
		}
	}
}

func TestRepliesHaveTheirForm(t *testing.T) {
	for want, reply := range map[string]any{
		"$-1\r\n":                     nil,
		"+OK\r\n":                     Simple("OK"),
		":-7\r\n":                     int64(-7),
		"$2\r\na\n\r\n":               "a\n",
		"*2\r\n$1\r\na\r\n$0\r\n\r\n": []string{"a", ""},
		"*0\r\n":                      []string{},
		"-ERR unknown 'a  +OK'\r\n":   errors.New("ERR unknown 'a\r\n+OK'"),
	} {
		if got := string(AppendReply(nil, reply)); got != want {
			t.Errorf("%v: %q, want %q", reply, got, want)
		}
	}
}

// A command that was read is written and read again the same, whatever came.
func FuzzReadCommand(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"))
	f.Add([]byte("*1\r\n$16777216\r\nshort"))
	f.Add([]byte("*65536\r\n$0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		args, err := ReadCommand(bufio.NewReader(bytes.NewReader(in)))
		if err != nil {
			return
		}
		again, err := ReadCommand(bufio.NewReader(bytes.NewReader(AppendCommand(nil, args...))))
		if err != nil || len(again) != len(args) {
			t.Fatalf("%q, then %q, %v", args, again, err)
		}
		for i := range args {
			if !bytes.Equal(args[i], again[i]) {
				t.Fatalf("%q, then %q", args, again)
			}
		}
	})
}
