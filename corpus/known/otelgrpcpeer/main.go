// Otelgrpcpeer is a service of gRPC with twenty methods that otelgrpc measures. Its clients are probes
// that connect, call each method once and go. It keeps the articles, 25 MiB.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const methods = 20

type shop struct{ articles [25_000]string }

func newShop() *shop {
	s := &shop{}
	for i := range s.articles {
		s.articles[i] = strings.Repeat("a", 1000)
	}
	return s
}

// method is the n-th: it answers with an article.
func (s *shop) method(n int) grpc.MethodDesc {
	name := fmt.Sprint("Article", n)
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, decode func(any) error, measured grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.UInt32Value)
		if err := decode(in); err != nil {
			return nil, err
		}
		answer := func(_ context.Context, in any) (any, error) {
			return wrapperspb.String(s.articles[int(in.(*wrapperspb.UInt32Value).Value)%len(s.articles)]), nil
		}
		return measured(ctx, in, &grpc.UnaryServerInfo{Server: s, FullMethod: "/shop.Shop/" + name}, answer)
	}}
}

func (s *shop) serve(l net.Listener, meters *metric.MeterProvider) {
	desc := grpc.ServiceDesc{ServiceName: "shop.Shop", HandlerType: (*any)(nil)}
	for n := range methods {
		desc.Methods = append(desc.Methods, s.method(n))
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(otelgrpc.UnaryServerInterceptor(otelgrpc.WithMeterProvider(meters))))
	server.RegisterService(&desc, s)
	go server.Serve(l)
}

// probe calls each method once, over a connection of its own.
func probe(ctx context.Context, addr string, id int) error {
	conn, err := grpc.Dial(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	for n := range methods {
		var out wrapperspb.StringValue
		if err := conn.Invoke(ctx, fmt.Sprint("/shop.Shop/Article", n), wrapperspb.UInt32(uint32(id+n)), &out); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	reader := metric.NewManualReader()
	newShop().serve(l, metric.NewMeterProvider(metric.WithReader(reader)))
	go func() { // an exporter
		for range time.Tick(5 * time.Second) {
			var all metricdata.ResourceMetrics
			if err := reader.Collect(context.Background(), &all); err != nil {
				log.Print(err)
			}
		}
	}()
	end := time.Now().Add(*last)
	var probes sync.WaitGroup
	for id := range 4 {
		probes.Go(func() {
			for n := id; time.Now().Before(end); n += 4 {
				if err := probe(context.Background(), l.Addr().String(), n); err != nil {
					log.Print(err)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	probes.Wait()
}
