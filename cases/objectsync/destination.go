package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// destination writes each table as one Parquet object into a bucket.
type destination struct {
	records *decoder
	uploads *uploads
}

func newDestination(u *uploads) (*destination, error) {
	records, err := newDecoder(resources)
	return &destination{records: records, uploads: u}, err
}

// write takes the records of a table and returns when its object is stored.
func (d *destination) write(ctx context.Context, table string, next func() ([]byte, error)) (int64, error) {
	if table == "" || strings.ContainsAny(table, "/\\") {
		return 0, status.Errorf(codes.InvalidArgument, "no table's name: %q", table)
	}
	var rows int64
	err := d.uploads.store(ctx, table+".parquet", func(w io.Writer) (err error) {
		rows, err = d.writeParquet(w, next)
		return err
	})
	return rows, err
}

// writeParquet turns records into a Parquet file until next says io.EOF.
func (d *destination) writeParquet(w io.Writer, next func() ([]byte, error)) (rows int64, err error) {
	file, err := newParquet(w, resources)
	if err != nil {
		return 0, err
	}
	for {
		message, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		record, err := d.records.decode(message)
		if err != nil {
			return 0, status.Error(codes.InvalidArgument, err.Error())
		}
		err = file.WriteBuffered(record) // also: alltables; also: onerecord
		rows += record.NumRows()
		record.Release()
		if err != nil {
			return 0, fmt.Errorf("parquet: %w", err)
		}
	}
	if err := file.Close(); err != nil {
		return 0, fmt.Errorf("parquet: %w", err)
	}
	return rows, nil
}

func newParquet(w io.Writer, schema *arrow.Schema) (*pqarrow.FileWriter, error) {
	properties := parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDataPageSize(64<<10),
		parquet.WithDictionaryDefault(false),
	)
	// A writer that is closed must not close the upload's end too.
	file, err := pqarrow.NewFileWriter(schema, struct{ io.Writer }{w}, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return file, nil
}
