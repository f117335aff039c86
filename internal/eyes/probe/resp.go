package probe

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// respAsker sends one command over one connection, which stays open between
// requests; after an error the next request makes a new one.
type respAsker struct {
	address, host string
	secure        bool
	login         []byte // AUTH, nil for none
	command       []byte
	conn          net.Conn
	read          *bufio.Reader
}

func newRESPAsker(t *Target) *respAsker {
	a := &respAsker{address: t.url.Host, host: t.url.Hostname(), secure: t.url.Scheme == "rediss", command: command("PING")}
	if key := t.key(); key != "" {
		a.command = command("SET", key, "highwater")
	}
	if password, ok := t.url.User.Password(); ok {
		a.login = command("AUTH", password)
		if user := t.url.User.Username(); user != "" {
			a.login = command("AUTH", user, password)
		}
	}
	return a
}

// command is an array of bulk strings (redis.io, "Redis serialization protocol
// specification").
func command(words ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

func (a *respAsker) ask(ctx context.Context) (int, error) {
	err := a.exchange(ctx)
	if err != nil {
		a.close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return 0, err
}

// exchange sends the command and reads its reply, over a new connection where
// there is none.
func (a *respAsker) exchange(ctx context.Context) error {
	if a.conn == nil {
		if err := a.dial(ctx); err != nil {
			return err
		}
	}
	// The connection obeys ctx: its deadline, and its end.
	if deadline, ok := ctx.Deadline(); ok {
		if err := a.conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	conn := a.conn
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	return a.send(a.command)
}

func (a *respAsker) dial(ctx context.Context) (err error) {
	if a.secure {
		a.conn, err = (&tls.Dialer{Config: &tls.Config{ServerName: a.host}}).DialContext(ctx, "tcp", a.address)
	} else {
		a.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", a.address)
	}
	if err != nil {
		a.conn = nil
		return err
	}
	a.read = bufio.NewReaderSize(a.conn, 4096)
	if a.login == nil {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := a.conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	return a.send(a.login)
}

func (a *respAsker) send(command []byte) error {
	if _, err := a.conn.Write(command); err != nil {
		return err
	}
	return readReply(a.read)
}

func (a *respAsker) close() {
	if a.conn != nil {
		a.conn.Close()
		a.conn = nil
	}
}

var errNotRESP = errors.New("the answer is not RESP: no Redis server is there")

// readReply reads one reply to PING, SET or AUTH: a line, or a string with its
// length before it. An error that the server replies is the error.
func readReply(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return errNotRESP
	case err != nil:
		return err
	case len(line) < 3 || line[len(line)-2] != '\r':
		return errNotRESP
	}
	kind, text := line[0], bytes.TrimSpace(line[1:])
	switch kind {
	case '+', ':', '_':
		return nil
	case '-':
		return fmt.Errorf("the answer was %q", text)
	case '$':
		n, err := strconv.Atoi(string(text))
		switch {
		case err != nil || n < -1 || n > maxBody:
			return errNotRESP
		case n == -1:
			return nil
		}
		_, err = io.CopyN(io.Discard, r, int64(n)+2)
		return err
	}
	return errNotRESP
}
