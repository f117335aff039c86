// Yamuxhalf answers requests that come in as streams of a yamux session. It closes a stream after its
// answer; some agents never close their side. It keeps the state of the agents' machines, 25 MiB.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"io"
	"log"
	"net"
	"reflect"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

type hub struct {
	mu       sync.Mutex
	machines [6500][]byte
	next     int
}

func newHub() *hub {
	h := &hub{}
	for i := range h.machines {
		h.machines[i] = bytes.Repeat([]byte{byte(i)}, 4000)
	}
	return h
}

// config gives up a stream a second after it was closed here, where the module can.
func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput, c.EnableKeepAlive = io.Discard, false
	if timeout := reflect.ValueOf(c).Elem().FieldByName("StreamCloseTimeout"); timeout.IsValid() {
		timeout.SetInt(int64(time.Second))
	}
	return c
}

func (h *hub) serve(conn net.Conn) {
	session, err := yamux.Server(conn, config())
	if err != nil {
		log.Print(err)
		return
	}
	defer session.Close()
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return
		}
		go h.answer(stream)
	}
}

func (h *hub) answer(stream *yamux.Stream) {
	defer stream.Close()
	state := make([]byte, 4000)
	if _, err := io.ReadFull(stream, state); err != nil {
		return
	}
	h.mu.Lock()
	h.next = (h.next + 1) % len(h.machines)
	copy(h.machines[h.next], state)
	h.mu.Unlock()
	stream.Write([]byte("ok"))
}

// frame is a header of yamux: version, type (0: data, 1: window), flags (1: new, 4: end), stream, length.
func frame(kind byte, flags uint16, id, length uint32) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0, kind}, flags)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, id), length)
}

// agent sends its state in a stream of its own each time, and ends the stream or not.
func agent(addr string, ends bool, every time.Duration, end time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	go io.Copy(io.Discard, conn)
	state := make([]byte, 4000)
	for id := uint32(1); time.Now().Before(end); id += 2 {
		out := append(frame(1, 1, id, 0), frame(0, 0, id, uint32(len(state)))...)
		out = append(out, state...)
		if ends {
			out = append(out, frame(1, 4, id, 0)...)
		}
		if _, err := conn.Write(out); err != nil {
			return err
		}
		time.Sleep(every)
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	h := newHub()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go h.serve(conn)
		}
	}()
	end := time.Now().Add(*last)
	var agents sync.WaitGroup
	for i := range 4 {
		agents.Go(func() {
			if err := agent(l.Addr().String(), i == 0, time.Millisecond, end); err != nil {
				log.Print(err)
			}
		})
	}
	agents.Wait()
}
