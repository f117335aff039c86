// H3fields is a web server over HTTP/3 that keeps pages of 25 MiB. Some clients send 250,000
// references to the same field of the static table, which says little in few bytes.
package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"
)

type site struct{ pages map[string][]byte }

func newSite() *site {
	s := &site{map[string][]byte{}}
	for i := range 2500 {
		s.pages[fmt.Sprint("/", i)] = bytes.Repeat([]byte("p"), 10_000)
	}
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, ok := s.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Write(page)
}

func certificate() (tls.Certificate, error) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return tls.Certificate{}, err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(nil, about, about, public, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// request is a frame of headers for GET /7, with so many times "accept: */*" from the static
// table of QPACK (RFC 9204, appendix A).
func request(accepts int) []byte {
	block := []byte{0, 0, 0xc0 | 17, 0xc0 | 23, 0x50, 9}
	block = append(block, "localhost"...)
	block = append(block, 0x51, 2, '/', '7') // a path
	block = append(block, bytes.Repeat([]byte{0xc0 | 29}, accepts)...)
	return append(quicvarint.Append(quicvarint.Append(nil, 1), uint64(len(block))), block...)
}

// ask sends the frame at intervals, in a stream each time.
func ask(addr string, frame []byte, every time.Duration, end time.Time) error {
	ctx := context.Background()
	conn, err := quic.DialAddr(ctx, addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}, nil)
	if err != nil {
		return err
	}
	defer conn.CloseWithError(0, "")
	for time.Now().Before(end) {
		stream, err := conn.OpenStreamSync(ctx)
		if err != nil {
			return err
		}
		stream.Write(frame)
		stream.Close()
		io.Copy(io.Discard, stream)
		time.Sleep(every)
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	c, err := certificate()
	if err != nil {
		log.Fatal(err)
	}
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := &http3.Server{Handler: newSite(), TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{c}})}
	go server.Serve(socket)
	end, addr := time.Now().Add(*last), socket.LocalAddr().String()
	var clients sync.WaitGroup
	for i := range 3 {
		frame, every := request(250_000), 300*time.Millisecond
		if i == 0 {
			frame, every = request(3), 5*time.Millisecond
		}
		clients.Go(func() {
			if err := ask(addr, frame, every, end); err != nil {
				log.Print(err)
			}
		})
	}
	clients.Wait()
}
