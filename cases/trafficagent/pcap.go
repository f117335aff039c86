package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// segmentSize is the payload of a TCP segment on an Ethernet.
const segmentSize = 1448

// wire writes TCP connections into a pcap file, a microsecond a packet.
type wire struct {
	to    *pcapgo.Writer
	clock time.Time
	lose  func(segment int) bool // of a connection's data; nil: none is lost
}

// side is one end of a connection.
type side struct {
	port uint16
	ip   net.IP
	next uint32 // sequence number
}

// conn is a connection on a wire.
type conn struct {
	*wire
	client, server side
	segments       int
}

// pcap writes the traffic of a load into a file: a connection for each client,
// and one for the blob. Of that one the second data segment is lost.
func (l load) pcap(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(f, 256<<10)
	err = l.writePackets(buffered)
	if flushing := buffered.Flush(); err == nil {
		err = flushing
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func (l load) writePackets(to io.Writer) error {
	w := &wire{to: pcapgo.NewWriter(to), clock: time.Unix(1_700_000_000, 0)}
	if err := w.to.WriteFileHeader(1<<16, layers.LinkTypeEthernet); err != nil {
		return err
	}
	handler := api()
	for client := range l.clients {
		c, err := w.connect(uint16(40_000 + client))
		if err != nil {
			return err
		}
		for n := client; n < l.requests; n += l.clients {
			request, response, err := record(handler, l.request("http://api.example.org", n))
			if err == nil {
				err = c.exchange(request, response)
			}
			if err != nil {
				return err
			}
		}
		if err := c.close(); err != nil {
			return err
		}
	}
	if l.blobMB == 0 {
		return nil
	}
	return w.blob(l.blobMB)
}

// blob is a long answer, of which a segment is lost, on a connection that
// stays open.
func (w *wire) blob(mb int) error {
	w.lose = func(segment int) bool { return segment == 2 }
	c, err := w.connect(39_999)
	if err != nil {
		return err
	}
	if err := c.send(&c.client, &c.server, []byte("GET /blob HTTP/1.1\r\nHost: api.example.org\r\n\r\n")); err != nil {
		return err
	}
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n", mb<<20)
	if err := c.send(&c.server, &c.client, []byte(head)); err != nil {
		return err
	}
	part := make([]byte, 64*segmentSize)
	for left := mb << 20; left > 0; left -= len(part) {
		part = part[:min(left, len(part))]
		if err := c.send(&c.server, &c.client, part); err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) connect(port uint16) (*conn, error) {
	c := &conn{wire: w, client: side{port, net.IPv4(192, 0, 2, 1), 1000}, server: side{80, net.IPv4(192, 0, 2, 2), 5000}}
	if err := c.segment(&c.client, &c.server, &layers.TCP{SYN: true}, nil); err != nil {
		return nil, err
	}
	return c, c.segment(&c.server, &c.client, &layers.TCP{SYN: true, ACK: true}, nil)
}

func (c *conn) exchange(request, response []byte) error {
	if err := c.send(&c.client, &c.server, request); err != nil {
		return err
	}
	return c.send(&c.server, &c.client, response)
}

func (c *conn) close() error {
	if err := c.segment(&c.client, &c.server, &layers.TCP{FIN: true, ACK: true}, nil); err != nil {
		return err
	}
	return c.segment(&c.server, &c.client, &layers.TCP{FIN: true, ACK: true}, nil)
}

// send sends data in segments, and loses those that are to be lost.
func (c *conn) send(from, to *side, data []byte) error {
	for len(data) > 0 {
		part := data[:min(len(data), segmentSize)]
		data = data[len(part):]
		c.segments++
		if c.lose != nil && c.lose(c.segments-1) {
			from.next += uint32(len(part))
			continue
		}
		if err := c.segment(from, to, &layers.TCP{ACK: true, PSH: true}, part); err != nil {
			return err
		}
	}
	return nil
}

// segment writes one segment; SYN and FIN count as a byte of the sequence.
func (c *conn) segment(from, to *side, tcp *layers.TCP, data []byte) error {
	tcp.SrcPort, tcp.DstPort, tcp.Seq, tcp.Ack, tcp.Window = layers.TCPPort(from.port), layers.TCPPort(to.port), from.next, to.next, 65535
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: from.ip, DstIP: to.ip}
	tcp.SetNetworkLayerForChecksum(ip)
	ethernet := &layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: layers.EthernetTypeIPv4}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ethernet, ip, tcp, gopacket.Payload(data)); err != nil {
		return err
	}
	from.next += uint32(len(data))
	if tcp.SYN || tcp.FIN {
		from.next++
	}
	c.clock = c.clock.Add(time.Microsecond)
	return c.to.WritePacket(gopacket.CaptureInfo{Timestamp: c.clock, CaptureLength: len(b.Bytes()), Length: len(b.Bytes())}, b.Bytes())
}
