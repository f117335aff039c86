package thirdparty

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// NATS is nats-server with JetStream, fed into a stream that is kept in memory:
// a leak by configuration, since the stream has no limit. Its memory store
// copies each message into a buffer of its own.
func NATS() Server {
	return Server{
		Name:    "nats-server",
		Module:  "github.com/nats-io/nats-server/v2",
		Version: "v2.15.2",
		Package: "github.com/nats-io/nats-server/v2",
		Args: func(dir string, port int) []string {
			return []string{"-a", "127.0.0.1", "-p", strconv.Itoa(port), "-js", "-sd", dir}
		},
		Profiling: func(_, other int) ([]string, int) {
			return []string{"-profile", strconv.Itoa(other)}, other
		},
		Load: feedStream,
		Truth: Truth{
			Class:      "leak",
			Function:   "github.com/nats-io/nats-server/v2/server.(*memStore).storeRawMsg",
			Module:     "github.com/nats-io/nats-server/v2",
			FileSuffix: "server/memstore.go",
			Marker:     "sm := &StoreMsg{subj, nil, nil, make([]byte, 0, len(hdr)+len(msg)), seq, ts}",
		},
	}
}

const (
	natsMessage = 64 << 10              // bytes of one message
	natsBatch   = 16                    // messages sent before their acknowledgements are read
	natsPause   = 20 * time.Millisecond // between batches: 50 MiB a second at most
	natsTotal   = 768 << 20             // bytes fed in all
	natsSmall   = 32 << 20              // the same, for a small load
	natsInbox   = "_INBOX.highwater"    // where replies come
	natsStream  = "HIGHWATER"           // the stream's name
	natsSubject = "highwater.load"      // what it collects
)

// feedStream makes a memory stream and publishes into it, each message
// acknowledged by JetStream.
func feedStream(ctx context.Context, address string, o Load) error {
	c, err := dialNATS(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	config := fmt.Sprintf(`{"name":%q,"subjects":[%q],"storage":"memory","retention":"limits","num_replicas":1}`, natsStream, natsSubject)
	if err := c.request("$JS.API.STREAM.CREATE."+natsStream, []byte(config), 1); err != nil {
		return fmt.Errorf("create the stream: %w", err)
	}
	total := natsTotal
	if o.Small {
		total = natsSmall
	}
	pause := time.NewTicker(natsPause)
	defer pause.Stop()
	message := bytes.Repeat([]byte("highwater "), natsMessage/10+1)[:natsMessage]
	for fed := 0; fed < total; fed += natsBatch * natsMessage {
		if err := c.request(natsSubject, message, natsBatch); err != nil {
			return fmt.Errorf("after %d MiB: %w", fed>>20, err)
		}
		if fed%(32<<20) == 0 {
			o.logf("fed %d MiB", fed>>20)
		}
		<-pause.C
	}
	return nil
}

// natsConn speaks the text protocol of NATS: INFO, CONNECT, SUB, PUB, MSG, PING.
type natsConn struct {
	net.Conn
	r *bufio.Reader
}

func dialNATS(ctx context.Context, address string) (*natsConn, error) {
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c := &natsConn{conn, bufio.NewReader(conn)}
	info, err := c.r.ReadString('\n')
	if err == nil && !strings.HasPrefix(info, "INFO ") {
		err = fmt.Errorf("no NATS server: %.60q", info)
	}
	if err == nil {
		_, err = fmt.Fprintf(c, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB %s 1\r\n", natsInbox)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// request publishes the message n times and waits for n replies; one that
// carries an error is an error.
func (c *natsConn) request(subject string, message []byte, n int) error {
	for range n {
		if _, err := fmt.Fprintf(c, "PUB %s %s %d\r\n%s\r\n", subject, natsInbox, len(message), message); err != nil {
			return err
		}
	}
	for range n {
		reply, err := c.reply()
		if err != nil {
			return err
		}
		if bytes.Contains(reply, []byte(`"error":`)) {
			return fmt.Errorf("server says %s", reply)
		}
	}
	return nil
}

// reply reads up to the next MSG and returns its payload.
func (c *natsConn) reply() ([]byte, error) {
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		fields := strings.Fields(line)
		switch {
		case len(fields) > 0 && fields[0] == "PING":
			if _, err := io.WriteString(c, "PONG\r\n"); err != nil {
				return nil, err
			}
		case len(fields) > 3 && fields[0] == "MSG":
			n, err := strconv.Atoi(fields[len(fields)-1])
			if err != nil || n < 0 || n > 1<<20 {
				return nil, fmt.Errorf("bad message line %q", line)
			}
			payload := make([]byte, n+2) // with its \r\n
			_, err = io.ReadFull(c.r, payload)
			return payload[:n], err
		case len(fields) > 0 && fields[0] == "-ERR":
			return nil, fmt.Errorf("server says %s", strings.TrimSpace(line))
		}
	}
}
