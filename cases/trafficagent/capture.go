package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/google/gopacket/tcpassembly"
)

// What the assembler may hold for segments that are ahead of a missing one. A
// page is 1,900 bytes: 7.6 MB of one connection, enough for a retransmission
// after 100 ms at 75 MB a second.
const (
	pagesOfConnection = 4_000
	pagesOfAll        = 15_000
)

// A stream that waits for a segment longer than this goes on without it.
const (
	patience   = 2 * time.Minute
	flushEvery = 5 * time.Second
)

// packets is where packets come from, a pcap file or an interface, until io.EOF.
type packets interface {
	gopacket.PacketDataSource
	io.Closer
	LinkType() layers.LinkType
}

// file is a pcap file. It ends when ctx does.
type file struct {
	*pcapgo.Reader
	io.Closer
	ctx context.Context
}

func (f *file) ReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	if f.ctx.Err() != nil {
		return nil, gopacket.CaptureInfo{}, io.EOF
	}
	return f.Reader.ReadPacketData()
}

// openFile opens a pcap file.
func openFile(ctx context.Context, name string) (packets, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := pcapgo.NewReader(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is no pcap file: %w", name, err)
	}
	return &file{Reader: r, Closer: f, ctx: ctx}, nil
}

// newAssembler makes an assembler of TCP streams. Without limits it keeps all
// that follows a lost segment, until that arrives or patience ends; and what its
// page cache has grown to, it keeps for good.
func newAssembler(streams tcpassembly.StreamFactory, limits bool) *tcpassembly.Assembler {
	a := tcpassembly.NewAssembler(tcpassembly.NewStreamPool(streams))
	if limits {
		a.MaxBufferedPagesPerConnection = pagesOfConnection
		a.MaxBufferedPagesTotal = pagesOfAll
	}
	return a
}

// assemble gives the TCP segments of all packets to an assembler, until there
// are no more. What is no TCP is passed over. It returns how many segments there
// were.
func assemble(from packets, a *tcpassembly.Assembler) (segments int, err error) {
	var tcp layers.TCP
	decoder := newDecoder(from.LinkType(), &tcp)
	var decoded []gopacket.LayerType
	var flushed time.Time
	for {
		data, info, err := from.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return segments, nil
		}
		if err != nil {
			return segments, fmt.Errorf("packet %d: %w", segments+1, err)
		}
		// Broken packets are a fact of networks: what could be decoded counts.
		_ = decoder.parser.DecodeLayers(data, &decoded)
		if flow, ok := decoder.flow(decoded); ok {
			segments++
			a.AssembleWithTimestamp(flow, &tcp, info.Timestamp) // fault: hole
		}
		// The packets' own clock counts: a file is read faster than it came.
		if info.Timestamp.Sub(flushed) > flushEvery {
			a.FlushOlderThan(info.Timestamp.Add(-patience))
			flushed = info.Timestamp
		}
	}
}

// decoder takes packets apart without allocating.
type decoder struct {
	ethernet layers.Ethernet
	loopback layers.Loopback
	ip4      layers.IPv4
	ip6      layers.IPv6
	payload  gopacket.Payload
	parser   *gopacket.DecodingLayerParser
}

func newDecoder(link layers.LinkType, tcp *layers.TCP) *decoder {
	d := new(decoder)
	first := layers.LayerTypeEthernet
	switch link {
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		first = layers.LayerTypeLoopback
	case layers.LinkTypeRaw, layers.LinkTypeIPv4:
		first = layers.LayerTypeIPv4
	}
	d.parser = gopacket.NewDecodingLayerParser(first, &d.ethernet, &d.loopback, &d.ip4, &d.ip6, tcp, &d.payload)
	d.parser.IgnoreUnsupported = true
	return d
}

// flow says between which addresses a segment went, or that it is none.
func (d *decoder) flow(decoded []gopacket.LayerType) (flow gopacket.Flow, isTCP bool) {
	for _, layer := range decoded {
		switch layer {
		case layers.LayerTypeIPv4:
			flow = d.ip4.NetworkFlow()
		case layers.LayerTypeIPv6:
			flow = d.ip6.NetworkFlow()
		case layers.LayerTypeTCP:
			isTCP = true
		}
	}
	return flow, isTCP
}
