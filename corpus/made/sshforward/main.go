// Sshforward is an SSH server that forwards connections to a service behind it. When
// the client closes its side, the copy of what it sends ends; the other one waits for
// the service, which keeps its connections open, for ever. Repaired, the connection
// to the service is closed then.
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"log"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type gate struct {
	service  *service
	size     int // bytes of a copy's buffer
	repaired bool
}

func main() {
	f := frame.Parse()
	g := &gate{newService(f.Unit), f.Unit, f.Repaired}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	config, key := serverConfig()
	go g.accept(l, config)
	client, err := ssh.Dial("tcp", l.Addr().String(), &ssh.ClientConfig{User: "ada", HostKeyCallback: ssh.FixedHostKey(key)})
	if err != nil {
		log.Fatal(err)
	}
	f.Each(func(int) {
		if err := ask(client, len(g.service.page)); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func serverConfig() (*ssh.ServerConfig, ssh.PublicKey) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	signer, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		log.Fatal(err)
	}
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)
	return config, signer.PublicKey()
}

// ask is a client that wants one page through the gate.
func ask(client *ssh.Client, size int) error {
	channel, _, err := client.OpenChannel("direct-tcpip", nil) // this gate has no requests
	if err != nil {
		return err
	}
	if _, err := io.WriteString(channel, "GET page\n"); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, channel, int64(size+len(end))); err != nil {
		return err
	}
	return channel.Close()
}

// end comes after a page.
var end = []byte("END\n")

// service answers each question on a connection with a page, and waits for the next.
type service struct{ page []byte }

func newService(size int) *service {
	return &service{[]byte(strings.Repeat("a line of the page\n", max(64, size/19)))}
}

func (s *service) dial() net.Conn {
	here, there := net.Pipe()
	go s.serve(there) // truth: starts
	return here
}

func (s *service) serve(conn net.Conn) {
	defer conn.Close()
	var question [64]byte
	for {
		if _, err := conn.Read(question[:]); err != nil { // truth: waits
			return
		}
		for _, part := range [][]byte{s.page, end} {
			if _, err := conn.Write(part); err != nil {
				return
			}
		}
	}
}

func (g *gate) accept(l net.Listener, config *ssh.ServerConfig) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, channels, requests, err := ssh.NewServerConn(conn, config)
		if err != nil {
			log.Print(err)
			continue
		}
		go ssh.DiscardRequests(requests)
		for c := range channels {
			go g.forward(c) // truth: starts
		}
	}
}

// forward joins a channel and a new connection to the service.
func (g *gate) forward(asked ssh.NewChannel) {
	channel, requests, err := asked.Accept()
	if err != nil {
		return
	}
	defer channel.Close()
	go ssh.DiscardRequests(requests)
	back := g.service.dial()
	go func() { // truth: starts
		g.pass(back, channel)
		if g.repaired {
			back.Close()
		}
	}()
	g.pass(channel, back) // truth: waits
}

// pass copies until from has no more, or to takes no more.
func (g *gate) pass(to io.Writer, from io.Reader) {
	buffer := make([]byte, g.size) // truth: allocates
	for {
		n, err := from.Read(buffer) // truth: waits
		if n > 0 {
			// Who went away is told by the next read.
			_, _ = to.Write(buffer[:n]) // truth: allocates
		}
		if err != nil {
			return
		}
	}
}
