package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/highwater-go/highwater/cases/internal/latency"
)

// tablesAtOnce is how many tables are under way together: enough to wait for
// the source's API in parallel, few enough to hold.
const tablesAtOnce = 125

// engine moves every table of a source to a destination.
type engine struct {
	source, destination *grpc.ClientConn
	allTables           bool
	latency             latency.Log // of each table, from its first row asked to its object stored
}

// sync moves all tables and returns how many and their rows. One that fails
// ends the others.
func (e *engine) sync(ctx context.Context) (tables, rows int64, err error) {
	names, err := e.tables(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("list tables: %w", err)
	}
	var total atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	if !e.allTables {
		group.SetLimit(tablesAtOnce)
	}
	for _, name := range names {
		group.Go(func() error {
			start := time.Now()
			n, err := e.copyTable(ctx, name) // fault: alltables
			e.latency.Add(time.Since(start), err)
			if err != nil {
				return fmt.Errorf("table %s: %w", name, err)
			}
			total.Add(n)
			return nil
		})
	}
	err = group.Wait()
	return int64(len(names)), total.Load(), err
}

func (e *engine) tables(ctx context.Context) ([]string, error) {
	stream, err := open(ctx, e.source, methodTables, new(emptypb.Empty))
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		var name wrapperspb.StringValue
		err := stream.RecvMsg(&name)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name.Value)
	}
}

// copyTable passes the records of one table on, as they come.
func (e *engine) copyTable(ctx context.Context, name string) (rows int64, err error) {
	ctx, stop := context.WithCancel(ctx) // whichever stream fails, the other ends
	defer stop()
	from, err := open(ctx, e.source, methodRead, wrapperspb.String(name))
	if err != nil {
		return 0, fmt.Errorf("read: %w", err)
	}
	to, err := e.destination.NewStream(metadata.AppendToOutgoingContext(ctx, tableKey, name), &grpc.StreamDesc{ClientStreams: true}, methodWrite)
	if err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	for {
		record, err := receive(from)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("read: %w", err)
		}
		// io.EOF here means that the other side has ended the stream: why, is
		// in its answer.
		if err := to.SendMsg(wrapperspb.Bytes(record)); err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("write: %w", err)
		} else if err != nil {
			break
		}
	}
	return answer(to)
}

func answer(to grpc.ClientStream) (rows int64, err error) {
	if err := to.CloseSend(); err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	var written wrapperspb.Int64Value
	if err := to.RecvMsg(&written); err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	return written.Value, nil
}

// open starts a call with one request and a stream of answers.
func open(ctx context.Context, to *grpc.ClientConn, method string, request any) (grpc.ClientStream, error) {
	stream, err := to.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil {
		return nil, err
	}
	return stream, stream.CloseSend()
}
