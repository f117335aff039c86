package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// source is a cloud account in miniature: many tables, listed a page at a time
// by an API that takes its time to answer.
type source struct {
	count     int           // tables
	pages     int           // of a table
	pageRows  int           // rows of a page
	delay     time.Duration // before each page
	oneRecord bool          // one row a message
}

// resources is the schema of every table.
var resources = arrow.NewSchema([]arrow.Field{
	{Name: "table", Type: arrow.BinaryTypes.String},
	{Name: "row", Type: arrow.PrimitiveTypes.Int64},
	{Name: "region", Type: arrow.BinaryTypes.String},
	{Name: "arn", Type: arrow.BinaryTypes.String},
	{Name: "created", Type: arrow.FixedWidthTypes.Timestamp_us},
	{Name: "bytes", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "tags", Type: arrow.BinaryTypes.String},
}, nil)

var regions = []string{"eu-central-1", "eu-west-1", "us-east-1", "us-west-2", "ap-southeast-2"}

func tableName(i int) string { return fmt.Sprintf("resources_%04d", i) }

func (s *source) tables(send func(name string) error) error {
	for i := range s.count {
		if err := send(tableName(i)); err != nil {
			return err
		}
	}
	return nil
}

// read sends the rows of a table, a page at a time as the API gives them.
func (s *source) read(ctx context.Context, table string, send func(record []byte) error) error {
	var number int
	if _, err := fmt.Sscanf(table, "resources_%d", &number); err != nil || table != tableName(number) || number < 0 || number >= s.count {
		return status.Errorf(codes.NotFound, "no table %q", table)
	}
	for page := range s.pages {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.delay):
		}
		record := makePage(table, page*s.pageRows, s.pageRows)
		err := s.sendPage(record, send)
		record.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// sendPage sends a page as one batch, or, at fault, as a message for each row:
// every one with a schema, a header and seven columns of its own, to be made
// here, copied by the engine and taken apart by the destination.
func (s *source) sendPage(page arrow.RecordBatch, send func(record []byte) error) error {
	step := page.NumRows()
	if s.oneRecord {
		step = 1
	}
	for from := int64(0); from < page.NumRows(); from += step {
		slice := page.NewSlice(from, from+step)
		b, err := encode(slice) // fault: onerecord
		slice.Release()
		if err != nil {
			return err
		}
		if err := send(b); err != nil {
			return err
		}
	}
	return nil
}

// makePage makes rows from first on. A row is the same each time it is made.
func makePage(table string, first, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, resources)
	defer b.Release()
	seed := fnv.New64a()
	seed.Write([]byte(table))
	for row := first; row < first+rows; row++ {
		random := rand.NewPCG(seed.Sum64(), uint64(row))
		region := regions[random.Uint64()%uint64(len(regions))]
		b.Field(0).(*array.StringBuilder).Append(table)
		b.Field(1).(*array.Int64Builder).Append(int64(row))
		b.Field(2).(*array.StringBuilder).Append(region)
		b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("arn:cloud:%s:%012d:%016x", region, random.Uint64()%1e12, random.Uint64()))
		b.Field(4).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000 + random.Uint64()%1e15))
		if n := random.Uint64(); n%7 == 0 {
			b.Field(5).(*array.Float64Builder).AppendNull()
		} else {
			b.Field(5).(*array.Float64Builder).Append(float64(n % 1e9))
		}
		b.Field(6).(*array.StringBuilder).Append(fmt.Sprintf(`{"owner":"team-%d","cost-centre":"%x"}`, random.Uint64()%50, random.Uint64()))
	}
	return b.NewRecordBatch()
}
