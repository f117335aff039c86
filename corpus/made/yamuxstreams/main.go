// Yamuxstreams fetches documents from a peer over hashicorp/yamux, a stream for each. The
// first line of an answer says whether the document has changed; where it has not, the
// rest is not read, and the stream is not closed on that way out: the session keeps it
// with all that has come. Repaired, it is closed.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"strings"

	"github.com/hashicorp/yamux"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const (
	lineBytes = 32
	// bufferShare is how much larger the buffer of a stream gets than what it was sent.
	bufferShare = 2
)

type mirror struct {
	session   *yamux.Session
	documents map[int][]byte // 16 MiB: as they were fetched last
	repaired  bool
	unchanged int
}

func main() {
	f := frame.Parse()
	here, there := net.Pipe()
	config := yamux.DefaultConfig()
	config.LogOutput, config.StreamOpenTimeout = io.Discard, 0
	go serve(there, config, frame.Touch(make([]byte, f.Unit/bufferShare)))
	session, err := yamux.Client(here, config) // truth: receives
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	m := &mirror{session: session, documents: map[int][]byte{}, repaired: f.Repaired}
	for n := range 16 << 20 / (16 << 10) {
		m.documents[n] = frame.Touch(make([]byte, 16<<10))
	}
	f.Each(func(i int) {
		if err := m.refresh(i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// serve answers with a line and the document, of which one in 64 has changed.
func serve(conn net.Conn, config *yamux.Config, document []byte) {
	session, err := yamux.Server(conn, config)
	if err != nil {
		log.Fatal(err)
	}
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return
		}
		go func() {
			defer stream.Close()
			asked, err := bufio.NewReaderSize(stream, 64).ReadString('\n')
			if err != nil {
				return
			}
			state := "same"
			if strings.HasSuffix(asked, "63\n") {
				state = "changed"
			}
			answer := append(fmt.Appendf(nil, "%-*s\n", lineBytes-1, state), document...)
			if _, err := stream.Write(answer); err != nil {
				log.Print(err)
			}
		}()
	}
}

// refresh fetches document i again where it has changed.
func (m *mirror) refresh(i int) error {
	stream, err := m.session.OpenStream() // truth: keeps
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stream, "document %d\n", i); err != nil {
		return err
	}
	var line [lineBytes]byte
	if _, err := io.ReadFull(stream, line[:]); err != nil {
		return err
	}
	if strings.HasPrefix(string(line[:]), "same") {
		m.unchanged++
		if m.repaired {
			return stream.Close()
		}
		return nil // truth: forgets
	}
	defer stream.Close()
	old := m.documents[i%len(m.documents)]
	_, err = io.ReadFull(stream, old[:min(len(old), 4<<10)])
	return err
}
