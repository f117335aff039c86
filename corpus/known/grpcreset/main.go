// Grpcreset makes reports over gRPC, at most 20 at once for a client. One client asks for reports and
// takes each question back at once. It keeps the figures of 26 years, 26 MiB.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"io"
	"log"
	"math"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type figures struct{ years [26][128 << 10]float64 }

func newFigures() *figures {
	f := &figures{}
	for y := range f.years {
		for i := range f.years[y] {
			f.years[y][i] = float64(i)
		}
	}
	return f
}

// report is 48 KiB after a query that takes 4 s.
func (f *figures) report() []byte {
	report := make([]byte, 0, 48<<10)
	for i := range 6000 {
		report = binary.LittleEndian.AppendUint64(report, math.Float64bits(f.years[i%26][i]))
	}
	time.Sleep(4 * time.Second)
	return report
}

func (f *figures) serve(l net.Listener) {
	make := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		if err := decode(new(emptypb.Empty)); err != nil {
			return nil, err
		}
		return wrapperspb.Bytes(f.report()), nil
	}
	s := grpc.NewServer(grpc.MaxConcurrentStreams(20))
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "figures.Reports", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Make", Handler: make}},
	}, f)
	go s.Serve(l)
}

func requestHeaders() []byte {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	e.SetMaxDynamicTableSize(0)
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":authority", "reports"}, {":path", "/figures.Reports/Make"},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	return block.Bytes()
}

// resets asks on one connection and takes each question back, until the server hangs up.
func resets(addr string, end time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	go io.Copy(io.Discard, conn)
	io.WriteString(conn, http2.ClientPreface)
	f, block := http2.NewFramer(conn, conn), requestHeaders()
	if err := f.WriteSettings(); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for id := uint32(1); time.Now().Before(end); id += 2 {
		<-tick.C
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true}); err != nil {
			return err
		}
		if err := f.WriteData(id, true, []byte{0, 0, 0, 0, 0}); err != nil { // an empty message
			return err
		}
		// The handler has begun to work by then.
		if id > 4 {
			if err := f.WriteRSTStream(id-4, http2.ErrCodeCancel); err != nil {
				return err
			}
		}
	}
	return nil
}

// calm is how long nothing bad comes at first.
const calm = 6 * time.Second

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	newFigures().serve(l)
	end := time.Now().Add(*last)
	time.Sleep(calm)
	for ; time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := resets(l.Addr().String(), end); err != nil {
			log.Print(err)
		}
	}
}
