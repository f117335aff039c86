// Grpcdial asks a service by gRPC whether an article is there. It makes a connection for
// each question and closes none, so that both sides keep their buffers and goroutines.
// Repaired, the close is deferred.
package main

import (
	"context"
	"log"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type shop struct {
	stock   string // address
	close   bool
	catalog [][]byte // 16 MiB
}

func (s *shop) there(ctx context.Context, i int) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:///"+s.stock, grpc.WithTransportCredentials(insecure.NewCredentials())) // truth: dials
	if err != nil {
		return false, err
	}
	if s.close {
		defer conn.Close()
	}
	r, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "stock"}) // truth: asks
	if err != nil {
		return false, err
	}
	return r.Status == grpc_health_v1.HealthCheckResponse_SERVING && len(s.catalog[i%len(s.catalog)]) > 0, nil
}

// stock is the service.
func stock() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	state := health.NewServer()
	state.SetServingStatus("stock", grpc_health_v1.HealthCheckResponse_SERVING)
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, state)
	go func() { log.Fatal(s.Serve(l)) }()
	return l.Addr().String()
}

func main() {
	f := frame.Parse()
	s := &shop{stock: stock(), close: f.Repaired}
	for range 16 << 5 {
		s.catalog = append(s.catalog, frame.Touch(make([]byte, 32<<10)))
	}
	f.Each(func(i int) {
		if _, err := s.there(context.Background(), i); err != nil {
			log.Print(err)
		}
	})
	f.Stay()
}
