package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// live is a packet socket. gopacket's own handle would block in recvmsg, where
// nothing ends it; this one is read through the runtime's poller.
type live struct {
	socket *os.File
	buffer []byte
	stop   func() bool
}

const (
	largestPacket = 1 << 18 // what a packet socket hands over at most
	socketBuffer  = 8 << 20 // for as many bytes the agent may be behind
)

// openInterface captures what goes to and from a TCP port on an interface, by
// AF_PACKET; it needs CAP_NET_RAW. When ctx ends, it gives what was captured until
// then, and io.EOF.
func openInterface(ctx context.Context, name string, port uint16) (packets, error) {
	l, err := openSocket(name, port)
	if err != nil {
		return nil, fmt.Errorf("capture on %s: %w", name, err)
	}
	l.stop = context.AfterFunc(ctx, func() { l.socket.SetReadDeadline(time.Unix(1, 0)) })
	return l, nil
}

func openSocket(name string, port uint16) (*live, error) {
	at, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	// Protocol 0 receives nothing: the filter stands before the first packet.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := prepare(fd, at.Index, port); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &live{socket: os.NewFile(uintptr(fd), "packets of "+name), buffer: make([]byte, largestPacket)}, nil
}

func prepare(fd, index int, port uint16) error {
	// Each packet on lo is seen as it leaves and as it comes; once is enough.
	// Since Linux 4.20; before, the assembler sees repetitions.
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, socketBuffer)
	raw, err := bpf.Assemble(portFilter(uint32(port)))
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, program); err != nil {
		return fmt.Errorf("filter port %d: %w", port, err)
	}
	return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_IP), Ifindex: index})
}

func networkOrder(n uint16) uint16 { return n<<8 | n>>8 }

// portFilter passes TCP in IPv4, from or to a port. lo, too, has an Ethernet
// header of 14 bytes.
func portFilter(port uint32) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: 12, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0x0800, SkipTrue: 8},
		bpf.LoadAbsolute{Off: 23, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 6, SkipTrue: 6},
		bpf.LoadMemShift{Off: 14},
		bpf.LoadIndirect{Off: 14, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: port, SkipTrue: 2},
		bpf.LoadIndirect{Off: 16, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: port, SkipTrue: 1},
		bpf.RetConstant{Val: largestPacket},
		bpf.RetConstant{Val: 0},
	}
}

// ReadPacketData waits for a packet. Its bytes are valid until the next call.
func (l *live) ReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	n, err := l.socket.Read(l.buffer)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = l.readQueued()
	}
	return l.buffer[:n], gopacket.CaptureInfo{Timestamp: time.Now(), CaptureLength: n, Length: n}, err
}

// readQueued reads a packet that is there already, or io.EOF.
func (l *live) readQueued() (n int, err error) {
	raw, err := l.socket.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { n, failed = unix.Read(int(fd), l.buffer) })
	if failed == unix.EAGAIN {
		return 0, io.EOF
	}
	return max(n, 0), errors.Join(err, failed)
}

func (l *live) LinkType() layers.LinkType { return layers.LinkTypeEthernet }

func (l *live) Close() error {
	l.stop()
	return l.socket.Close()
}
