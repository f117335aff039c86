// Natszip has a NATS server in itself that browsers reach over WebSocket, compressed. Some send, before
// they say who they are, a message that unpacks to 64 MiB. It keeps the last messages, 25 MiB.
package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

type messages struct {
	text [25_000]string
	next int
}

func newMessages() *messages {
	m := &messages{}
	for i := range m.text {
		m.text[i] = strings.Repeat("m", 1000)
	}
	return m
}

// keep takes a message the place of the oldest.
func (m *messages) keep(text string) {
	m.next = (m.next + 1) % len(m.text)
	m.text[m.next] = text
}

// start gives the address that browsers connect to.
func start() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr := l.Addr().(*net.TCPAddr)
	l.Close()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: addr.Port, NoTLS: true, Compression: true},
	})
	if err != nil {
		return "", err
	}
	go s.Start()
	if !s.ReadyForConnections(5 * time.Second) {
		return "", fmt.Errorf("the server does not start")
	}
	return addr.String(), nil
}

// open is a browser's connection.
func open(addr string) (net.Conn, *bufio.Reader, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"+
		"Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n\r\n", addr)
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	return conn, in, nil
}

// frame packs a message; its mask is zero and changes nothing.
func frame(message io.Reader) []byte {
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(z, message); err != nil {
		log.Fatal(err)
	}
	z.Flush()
	payload := bytes.TrimSuffix(packed.Bytes(), []byte{0, 0, 0xff, 0xff})
	out := []byte{0xc2, 0x80 | 127} // the end, packed, binary; masked, and a length of 8 bytes
	out = binary.BigEndian.AppendUint64(out, uint64(len(payload)))
	return append(append(out, 0, 0, 0, 0), payload...)
}

// browse sends a frame and waits until something comes back, or the end.
func browse(addr string, frame []byte) error {
	conn, in, err := open(addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	in.ReadByte() // the server says who it is
	if _, err := conn.Write(frame); err != nil {
		return nil
	}
	conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	io.CopyN(io.Discard, in, 1200)
	return nil
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// calm is how long nothing bad comes at first.
const calm = 6 * time.Second

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	addr, err := start()
	if err != nil {
		log.Fatal(err)
	}
	m, end := newMessages(), time.Now().Add(*last)
	good := frame(strings.NewReader("CONNECT {\"verbose\":true}\r\nSUB answers 1\r\nPUB answers 1000\r\n" + strings.Repeat("a", 1000) + "\r\n"))
	bad := frame(io.LimitReader(zeros{}, 64<<20))
	var browsers sync.WaitGroup
	repeat := func(frame []byte, every time.Duration, after func()) {
		for time.Now().Before(end) {
			if err := browse(addr, frame); err != nil {
				log.Print(err)
				return
			}
			after()
			time.Sleep(every)
		}
	}
	browsers.Go(func() {
		repeat(good, 10*time.Millisecond, func() { m.keep(strings.Repeat("k", 1000)) })
	})
	for i := range 2 {
		browsers.Go(func() {
			time.Sleep(calm)
			repeat(bad, time.Duration(500+200*i)*time.Millisecond, func() {})
		})
	}
	browsers.Wait()
}
