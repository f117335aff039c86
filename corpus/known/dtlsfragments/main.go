// Dtlsfragments is a telemetry server that devices reach by DTLS. One of them sends fragments of
// handshake messages that are never complete. The server keeps the devices' keys, 25 MiB.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/pion/dtls/v2"
)

type device struct {
	key  [32]byte
	last [8]float64
}

type devices map[string]*device

func loadDevices() devices {
	all := devices{}
	for i := range 110_000 {
		all[fmt.Sprintf("device-%d", i)] = &device{key: [32]byte{byte(i)}}
	}
	return all
}

func (d devices) key(hint []byte) ([]byte, error) {
	if one, ok := d[string(hint)]; ok {
		return one.key[:], nil
	}
	return nil, fmt.Errorf("no device %q", hint)
}

func (d devices) listen() (net.Listener, error) {
	return dtls.Listen("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, &dtls.Config{
		PSK: d.key, PSKIdentityHint: []byte("server"),
		CipherSuites: []dtls.CipherSuiteID{dtls.TLS_PSK_WITH_AES_128_GCM_SHA256},
	})
}

func serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			log.Print(err)
			continue
		}
		conn.Close()
	}
}

// fragment is a record of a handshake message that is announced as longer than it is: RFC 6347,
// 4.1 (record header, 13 bytes) and 4.2.2 (handshake header, 12 bytes).
func fragment(n uint64, body int) []byte {
	out := []byte{22, 0xfe, 0xff}
	out = binary.BigEndian.AppendUint64(out, n) // epoch 0 and 48 bits of sequence number
	out = binary.BigEndian.AppendUint16(out, uint16(12+body))
	out = append(out, 1, 0, 0xff, 0xff)                       // a ClientHello of 65,535 bytes
	out = binary.BigEndian.AppendUint16(out, uint16(1+n%200)) // message sequence
	out = append(out, 0, 0, 0, 0, byte(body>>8), byte(body))
	return append(out, make([]byte, body)...)
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := loadDevices().listen()
	if err != nil {
		log.Fatal(err)
	}
	go serve(l)
	conn, err := net.Dial("udp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	end := time.Now().Add(*last)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := uint64(0); time.Now().Before(end); {
		<-tick.C
		for range 6 {
			if _, err := conn.Write(fragment(n, 1200)); err != nil {
				log.Fatal(err)
			}
			n++
		}
	}
}
