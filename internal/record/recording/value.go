package recording

import (
	"database/sql/driver"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// encode is the value of a member as SQLite keeps it. A time that is zero and an
// Opt that was not seen are NULL.
func encode(member any) driver.Value {
	switch p := member.(type) {
	case *sample.Bytes:
		return int64(*p)
	case *time.Duration:
		return int64(*p)
	case *uint64:
		return int64(*p)
	case *int64:
		return *p
	case *int:
		return int64(*p)
	case *int32:
		return int64(*p)
	case *uint32:
		return int64(*p)
	case *sample.GCPhase:
		return int64(*p)
	case *float64:
		return *p
	case *bool:
		return flag(*p)
	case *time.Time:
		return instant(*p)
	case *sample.Opt[sample.Bytes]:
		return optional(*p)
	case *sample.Opt[uint64]:
		return optional(*p)
	}
	panic("recording: a column of unknown type")
}

// decode sets a member from what SQLite kept, an integer or a real number; NULL leaves it as it is.
func decode(member any, v driver.Value) {
	switch v := v.(type) {
	case int64:
		decodeInteger(member, v)
	case float64:
		if p, ok := member.(*float64); ok {
			*p = v
		}
	}
}

func decodeInteger(member any, n int64) {
	switch p := member.(type) {
	case *sample.Bytes:
		*p = sample.Bytes(n)
	case *time.Duration:
		*p = time.Duration(n)
	case *uint64:
		*p = uint64(n)
	case *int64:
		*p = n
	case *int:
		*p = int(n)
	case *int32:
		*p = int32(n)
	case *uint32:
		*p = uint32(n)
	case *sample.GCPhase:
		*p = sample.GCPhase(n)
	case *float64:
		*p = float64(n)
	case *bool:
		*p = n != 0
	case *time.Time:
		*p = wall(n)
	case *sample.Opt[sample.Bytes]:
		*p = sample.Some(sample.Bytes(n))
	case *sample.Opt[uint64]:
		*p = sample.Some(uint64(n))
	default:
		panic("recording: a column of unknown type")
	}
}

func optional[T ~uint64 | ~int](o sample.Opt[T]) driver.Value {
	if !o.OK {
		return nil
	}
	return int64(o.V)
}

func flag(b bool) driver.Value {
	if b {
		return int64(1)
	}
	return int64(0)
}

// instant is a time in UTC nanoseconds, NULL for the zero time.
func instant(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// text is a string, NULL where it is empty.
func text(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

func wall(ns int64) time.Time { return time.Unix(0, ns).UTC() }
