package fleet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Rows are encoded as ClickHouse's RowBinary has them: values one after another, a string
// with its length before it as a varint, numbers little-endian, and 1 before an absent
// value or 0 and the value. It has no escapes, so that no text can become anything else.
// https://clickhouse.com/docs/interfaces/formats/RowBinary

// ErrRows is that bytes are no rows of a table.
var ErrRows = errors.New("these are not rows of the table")

// mostString is how long a string of a row may be, in bytes: frames are the longest.
const mostString = 1 << 20

// Encode appends rows of one table to b.
func Encode[T any](b []byte, rows ...T) []byte {
	for i := range rows {
		v := reflect.ValueOf(&rows[i]).Elem()
		for f := range v.NumField() {
			b = appendValue(b, v.Field(f).Addr().Interface())
		}
	}
	return b
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case *string:
		text := strings.ToValidUTF8(*v, "\uFFFD")
		if len(text) > mostString {
			text = strings.ToValidUTF8(text[:mostString], "")
		}
		b = binary.AppendUvarint(b, uint64(len(text)))
		return append(b, text...)
	case *ID:
		return append(b, v[:]...)
	case *uint32:
		return binary.LittleEndian.AppendUint32(b, *v)
	case *uint64:
		return binary.LittleEndian.AppendUint64(b, *v)
	case *int64:
		return binary.LittleEndian.AppendUint64(b, uint64(*v))
	case *time.Time:
		return binary.LittleEndian.AppendUint32(b, seconds(*v))
	case *sample.Opt[uint32]:
		if !v.OK {
			return append(b, 1)
		}
		return binary.LittleEndian.AppendUint32(append(b, 0), v.V)
	case *sample.Opt[uint64]:
		if !v.OK {
			return append(b, 1)
		}
		return binary.LittleEndian.AppendUint64(append(b, 0), v.V)
	}
	panic(fmt.Sprintf("fleet: no row has a %T", v))
}

// seconds is a time as a store keeps it, 0 for none.
func seconds(t time.Time) uint32 {
	return uint32(min(max(t.Unix(), 0), 1<<32-1))
}

// decoder reads what Encode made.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n > len(d.rest) {
		d.err = ErrRows
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) str() string {
	n, size := binary.Uvarint(d.rest)
	if d.err != nil || size <= 0 || n > mostString || n > uint64(len(d.rest)-size) {
		d.err = ErrRows
		return ""
	}
	d.rest = d.rest[size:]
	return string(d.take(int(n)))
}

func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

// absent reads the byte before a value that may not be there.
func (d *decoder) absent() bool {
	flag := d.take(1)[0]
	if flag > 1 {
		d.err = ErrRows
	}
	return flag != 0
}

func (d *decoder) value(v any) {
	switch v := v.(type) {
	case *string:
		*v = d.str()
	case *ID:
		copy(v[:], d.take(len(v)))
	case *uint32:
		*v = d.uint32()
	case *uint64:
		*v = d.uint64()
	case *int64:
		*v = int64(d.uint64())
	case *time.Time:
		*v = timeOf(int64(d.uint32()))
	case *sample.Opt[uint32]:
		if *v = (sample.Opt[uint32]{}); !d.absent() {
			*v = sample.Some(d.uint32())
		}
	case *sample.Opt[uint64]:
		if *v = (sample.Opt[uint64]{}); !d.absent() {
			*v = sample.Some(d.uint64())
		}
	default:
		panic(fmt.Sprintf("fleet: no row has a %T", v))
	}
}

// timeOf is the time of that many seconds since 1970, the zero time for 0.
func timeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// Decode reads all rows that b has.
func Decode[T any](b []byte) (rows []T, err error) {
	err = each(b, reflect.TypeFor[T](), func(row reflect.Value) error {
		rows = append(rows, row.Interface().(T))
		return nil
	})
	return rows, err
}

// each calls do with every row of b.
func each(b []byte, row reflect.Type, do func(reflect.Value) error) error {
	d := decoder{rest: b}
	v := reflect.New(row).Elem()
	for len(d.rest) > 0 {
		for f := range v.NumField() {
			d.value(v.Field(f).Addr().Interface())
		}
		if d.err != nil {
			return d.err
		}
		if err := do(v); err != nil {
			return err
		}
	}
	return nil
}

// Count is how many rows b has. An error says that it is not rows of the table.
func (t *Table) Count(b []byte) (n int, err error) {
	err = each(b, t.row, func(reflect.Value) error { n++; return nil })
	return n, err
}

// Each calls do with every row of b, its columns by name. What is absent is nil.
func (t *Table) Each(b []byte, do func(map[string]any) error) error {
	return each(b, t.row, func(v reflect.Value) error {
		row := map[string]any{}
		for i, c := range t.cols {
			row[c.name] = plain(v.Field(i).Interface())
		}
		return do(row)
	})
}

// plain is a value as JSON has it.
func plain(v any) any {
	switch v := v.(type) {
	case ID:
		return v.String()
	case sample.Opt[uint32]:
		if !v.OK {
			return nil
		}
		return v.V
	case sample.Opt[uint64]:
		if !v.OK {
			return nil
		}
		return v.V
	}
	return v
}
