// Ttrpcstreams is a shim that tells over ttrpc how containers do. Its one client keeps its connection
// and opens a stream for each question. It keeps what the containers wrote, 25 MiB.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"time"

	"github.com/containerd/ttrpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type shim struct{ written [25_000]string }

func newShim() *shim {
	s := &shim{}
	for i := range s.written {
		s.written[i] = strings.Repeat("w", 1000)
	}
	return s
}

// read answers with what one container wrote.
func (s *shim) read(_ context.Context, stream ttrpc.StreamServer) (any, error) {
	var container wrapperspb.UInt32Value
	if err := stream.RecvMsg(&container); err != nil {
		return nil, err
	}
	return wrapperspb.String(s.written[int(container.Value)%len(s.written)]), nil
}

func (s *shim) serve(l net.Listener) error {
	server, err := ttrpc.NewServer()
	if err != nil {
		return err
	}
	server.RegisterService("shim", &ttrpc.ServiceDesc{Streams: map[string]ttrpc.Stream{"Read": {Handler: s.read}}})
	go server.Serve(context.Background(), l)
	return nil
}

// ask opens a stream for one question.
func ask(ctx context.Context, c *ttrpc.Client, container uint32) error {
	stream, err := c.NewStream(ctx, &ttrpc.StreamDesc{}, "shim", "Read", wrapperspb.UInt32(container))
	if err != nil {
		return err
	}
	var written wrapperspb.StringValue
	return stream.RecvMsg(&written)
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	if err := newShim().serve(l); err != nil {
		log.Fatal(err)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	c := ttrpc.NewClient(conn)
	end, tick := time.Now().Add(*last), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		for i := range 3 {
			trace := fmt.Sprint(n, strings.Repeat(" from shim to shim", 60))
			ctx := ttrpc.WithMetadata(context.Background(), ttrpc.MD{"trace": {trace}})
			if err := ask(ctx, c, uint32(3*n+i)); err != nil {
				log.Fatal(err)
			}
		}
	}
}
