// Firstoffer asks a service for the offers for a journey, which come as a stream over gRPC with
// the best one first. It takes that one and goes: the stream is neither read to its end nor
// cancelled, and the module keeps what came besides, with a goroutine that waits for the end of
// a context that has none. Repaired, the context is cancelled.
package main

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const (
	findMethod = "/travel.Offers/Find"
	parts      = 9
)

var description = grpc.ServiceDesc{
	ServiceName: "travel.Offers",
	HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{{StreamName: "Find", ServerStreams: true, Handler: func(srv any, stream grpc.ServerStream) error {
		return srv.(*offers).Find(stream)
	}}},
}

// offers is the service that is asked; it stands for another one's.
type offers struct{ page []byte }

func (o *offers) Find(stream grpc.ServerStream) error {
	var journey wrapperspb.Int32Value
	if err := stream.RecvMsg(&journey); err != nil {
		return err
	}
	for range parts {
		if err := stream.SendMsg(wrapperspb.Bytes(o.page)); err != nil {
			return err
		}
	}
	return nil
}

type desk struct {
	conn     *grpc.ClientConn
	cancels  bool
	stations []station // 15 MiB
	sold     int
}

type station struct {
	name  string
	trips [60]int32
}

func newDesk(conn *grpc.ClientConn, cancels bool) *desk {
	d := &desk{conn: conn, cancels: cancels, stations: make([]station, 60_000)}
	for i := range d.stations {
		d.stations[i].name = fmt.Sprintf("station %d", i)
		d.stations[i].trips[i%60] = int32(i)
	}
	return d
}

// best is the first offer.
func (d *desk) best(ctx context.Context, journey int) ([]byte, error) {
	if d.cancels {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
	}
	stream, err := d.conn.NewStream(ctx, &description.Streams[0], findMethod) // truth: opens
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(wrapperspb.Int32(int32(journey))); err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	var offer wrapperspb.BytesValue
	if err := stream.RecvMsg(&offer); err != nil { // truth: reads
		return nil, err
	}
	return offer.Value, nil // truth: leaves
}

func main() {
	f := frame.Parse()
	l := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.InitialConnWindowSize(1 << 20))
	server.RegisterService(&description, &offers{frame.Touch(make([]byte, f.Unit/(parts-1)))})
	go func() { log.Fatal(server.Serve(l)) }()
	conn, err := grpc.NewClient("passthrough:///offers",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(1<<20), grpc.WithInitialConnWindowSize(1<<20),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		log.Fatal(err)
	}
	d := newDesk(conn, f.Repaired)
	f.Each(func(i int) {
		offer, err := d.best(context.Background(), i)
		if err != nil {
			log.Fatal(err)
		}
		d.stations[i%len(d.stations)].trips[0] += int32(len(offer))
		d.sold++
	})
	f.Stay()
	log.Printf("%d sold", d.sold)
}
