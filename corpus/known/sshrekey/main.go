// Sshrekey serves files over SSH from memory, 24 MiB. Some clients take the beginning of many files
// and then never finish the exchange of new keys.
package main

import (
	"crypto/ed25519"
	"flag"
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

type server struct {
	config *ssh.ServerConfig
	file   []byte
}

func newServer() (*server, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return nil, err
	}
	s := &server{&ssh.ServerConfig{NoClientAuth: true, Config: ssh.Config{RekeyThreshold: 4 << 20}}, make([]byte, 24<<20)}
	for i := range s.file {
		s.file[i] = byte(i)
	}
	s.config.AddHostKey(signer)
	return s, nil
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, more, err := c.Accept()
		if err != nil {
			return
		}
		go ssh.DiscardRequests(more)
		go s.send(channel)
	}
}

// send waits to be asked and sends the file in parts of 32 KiB.
func (s *server) send(channel ssh.Channel) {
	defer channel.Close()
	if _, err := channel.Read(make([]byte, 1)); err != nil {
		return
	}
	for at := 0; at < len(s.file); at += 32 << 10 {
		if _, err := channel.Write(s.file[at : at+32<<10]); err != nil {
			return
		}
	}
}

// mute is a connection that sends nothing more once so many bytes were read.
type mute struct {
	net.Conn
	read, after atomic.Int64
}

func (m *mute) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.read.Add(int64(n))
	return n, err
}

func (m *mute) Write(p []byte) (int, error) {
	if m.read.Load() > m.after.Load() {
		return len(p), nil
	}
	return m.Conn.Write(p)
}

// fetch asks for the file as often as files says and reads for a while.
func fetch(addr string, files int, after int64, stay time.Duration) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	m := &mute{Conn: conn}
	m.after.Store(after)
	c, channels, requests, err := ssh.NewClientConn(m, addr, &ssh.ClientConfig{User: "u", HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		return err
	}
	go ssh.DiscardRequests(requests)
	go func() {
		for n := range channels {
			n.Reject(ssh.Prohibited, "no")
		}
	}()
	var all []ssh.Channel
	for range files {
		channel, more, err := c.OpenChannel("file", nil)
		if err != nil {
			return err
		}
		go ssh.DiscardRequests(more)
		go io.Copy(io.Discard, channel)
		all = append(all, channel)
	}
	for _, channel := range all {
		channel.Write([]byte("."))
	}
	time.Sleep(stay)
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	s, err := newServer()
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	client := func(files int, after int64, stay time.Duration) {
		for time.Now().Before(end) {
			if err := fetch(l.Addr().String(), files, after, stay); err != nil {
				log.Print(err)
				return
			}
			time.Sleep(300 * time.Millisecond)
		}
	}
	clients.Go(func() { client(1, 1<<40, time.Second) })
	for range 2 {
		clients.Go(func() { client(28, 3<<20, 4*time.Second) })
	}
	clients.Wait()
}
