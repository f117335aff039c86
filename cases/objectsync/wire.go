package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The two services of a sync. They are few enough to be written down by hand,
// with the well-known types of protobuf as messages; records travel as Arrow
// IPC streams, a schema and a batch in each message.
//
//	Source.Tables     Empty -> stream of StringValue   names of tables
//	Source.Read       StringValue -> stream of BytesValue   the records of a table
//	Destination.Write stream of BytesValue -> Int64Value   rows written; the table's name in the metadata
const (
	methodTables = "/objectsync.Source/Tables"
	methodRead   = "/objectsync.Source/Read"
	methodWrite  = "/objectsync.Destination/Write"
	tableKey     = "table"
)

// sourceServer is what a source answers.
type sourceServer interface {
	tables(send func(name string) error) error
	read(ctx context.Context, table string, send func(record []byte) error) error
}

// destinationServer is what a destination answers. next returns io.EOF after
// the last record.
type destinationServer interface {
	write(ctx context.Context, table string, next func() ([]byte, error)) (rows int64, err error)
}

var sourceService = grpc.ServiceDesc{
	ServiceName: "objectsync.Source",
	HandlerType: (*sourceServer)(nil),
	Streams: []grpc.StreamDesc{
		{StreamName: "Tables", ServerStreams: true, Handler: serveTables},
		{StreamName: "Read", ServerStreams: true, Handler: serveRead},
	},
}

var destinationService = grpc.ServiceDesc{
	ServiceName: "objectsync.Destination",
	HandlerType: (*destinationServer)(nil),
	Streams:     []grpc.StreamDesc{{StreamName: "Write", ClientStreams: true, Handler: serveWrite}},
}

func serveTables(server any, stream grpc.ServerStream) error {
	if err := stream.RecvMsg(new(emptypb.Empty)); err != nil {
		return err
	}
	return server.(sourceServer).tables(func(name string) error { return stream.SendMsg(wrapperspb.String(name)) })
}

func serveRead(server any, stream grpc.ServerStream) error {
	var table wrapperspb.StringValue
	if err := stream.RecvMsg(&table); err != nil {
		return err
	}
	send := func(record []byte) error { return stream.SendMsg(wrapperspb.Bytes(record)) } // also: alltables
	return server.(sourceServer).read(stream.Context(), table.Value, send)
}

func serveWrite(server any, stream grpc.ServerStream) error {
	table := ""
	if values := metadata.ValueFromIncomingContext(stream.Context(), tableKey); len(values) == 1 {
		table = values[0]
	}
	rows, err := server.(destinationServer).write(stream.Context(), table, func() ([]byte, error) { return receive(stream) })
	if err != nil {
		return err
	}
	return stream.SendMsg(wrapperspb.Int64(rows))
}

// receive returns the bytes of the next message, io.EOF after the last.
func receive(stream interface{ RecvMsg(any) error }) ([]byte, error) {
	var message wrapperspb.BytesValue
	if err := stream.RecvMsg(&message); err != nil { // also: onerecord
		return nil, err
	}
	return message.Value, nil
}

// encode makes an IPC stream of one record.
func encode(record arrow.RecordBatch) ([]byte, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()))
	if err := w.Write(record); err != nil { // also: onerecord
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// decoder takes records of one schema.
type decoder struct {
	opening []byte // of every stream: the schema, as encode writes it
}

// newDecoder makes a decoder for what encode makes of such records.
func newDecoder(schema *arrow.Schema) (*decoder, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	empty := builder.NewRecordBatch()
	defer empty.Release()
	stream, err := encode(empty)
	if err != nil {
		return nil, err
	}
	// A mark of 4 bytes, the length of the schema's message in 4, the message.
	return &decoder{opening: stream[:8+binary.LittleEndian.Uint32(stream[4:])]}, nil
}

// decode reads an IPC stream of exactly one record. The caller releases it.
//
// Lengths and counts in a broken message can be any, and arrow-go v18.8.0 allocates for
// them before it reads: gigabytes for a wrong byte in a schema. So the schema
// must be the known one, to the byte, and no part longer than the whole; the
// latter limits are lost in ipc.NewReader.
func (d *decoder) decode(stream []byte) (arrow.RecordBatch, error) {
	if !bytes.HasPrefix(stream, d.opening) {
		return nil, errors.New("record: it does not begin with the schema of all tables")
	}
	limit := int64(len(stream))
	messages := ipc.NewMessageReader(bytes.NewReader(stream), ipc.WithMetadataSizeLimit(limit), ipc.WithBodySizeLimit(limit))
	r, err := ipc.NewReaderFromMessageReader(messages) // also: onerecord
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	defer r.Release()
	if !r.Next() { // also: onerecord
		return nil, fmt.Errorf("record: a message without a batch: %w", cause(r.Err()))
	}
	record := r.RecordBatch()
	record.Retain()
	if r.Next() {
		record.Release()
		return nil, errors.New("record: more than one batch in a message")
	}
	return record, nil
}

// cause is err, or a word for its absence.
func cause(err error) error {
	if err == nil {
		return errors.New("the stream ends")
	}
	return err
}
