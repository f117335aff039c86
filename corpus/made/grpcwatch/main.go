// Grpcwatch streams the changes of a shop's stock over gRPC. Each stream has a
// goroutine that follows the shop; when the client has seen enough and cancels, it
// waits for ever to hand over the next change. Repaired, it also looks at the
// stream's context.
package main

import (
	"context"
	"log"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const watchMethod = "/stock.Stock/Watch"

var service = grpc.ServiceDesc{
	ServiceName: "stock.Stock",
	HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{{StreamName: "Watch", ServerStreams: true, Handler: func(srv any, stream grpc.ServerStream) error {
		return srv.(*stock).Watch(stream)
	}}},
}

type stock struct {
	shelves  string // of 16 MiB: what a change is cut from
	size     int
	repaired bool
}

func main() {
	f := frame.Parse()
	l := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	server.RegisterService(&service, &stock{strings.Repeat("rice, flour, salt; ", 16<<20/19), f.Unit, f.Repaired})
	go func() { log.Fatal(server.Serve(l)) }()
	conn, err := grpc.NewClient("passthrough:///stock",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		log.Fatal(err)
	}
	f.Each(func(i int) {
		if err := look(conn, i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// look is a client that needs the newest change and no more.
func look(conn *grpc.ClientConn, shop int) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := conn.NewStream(ctx, &service.Streams[0], watchMethod)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(wrapperspb.Int32(int32(shop))); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return stream.RecvMsg(new(wrapperspb.StringValue))
}

// Watch sends each change of a shop to the client, until it goes away.
func (s *stock) Watch(stream grpc.ServerStream) error {
	var shop wrapperspb.Int32Value
	if err := stream.RecvMsg(&shop); err != nil {
		return err
	}
	ctx, changes := stream.Context(), make(chan []string)
	go s.follow(ctx, int(shop.Value), changes) // truth: starts
	for {
		select {
		case lines := <-changes:
			if err := stream.SendMsg(wrapperspb.String(lines[0])); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// follow reads a shop's changes. The first is the state that it finds.
func (s *stock) follow(ctx context.Context, shop int, changes chan<- []string) {
	stop := ctx.Done()
	if !s.repaired {
		stop = nil
	}
	for n := 0; ; n++ {
		change := s.read(shop, n)
		select { // truth: waits
		case changes <- change: // truth: waits
		case <-stop:
			return
		}
	}
}

func (s *stock) read(shop, n int) []string {
	var lines []string
	for at := 0; at < s.size; at += 1 << 10 {
		from := (shop*7919 + n*31 + at) % (len(s.shelves) - 1<<10)
		lines = append(lines, strings.Clone(s.shelves[from:from+1<<10])) // truth: allocates
	}
	return lines
}
