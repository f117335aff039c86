package recording

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/klauspost/compress/zstd"
)

// maxSites caps what a decoder allocates for a foreign file: more sites than a
// process has whose profile tables take 4 GiB.
const maxSites = 1 << 22

// encoder is that of all Writers: its tables of half a MiB were two thirds of what a watch of
// many programs had live. Its EncodeAll may be called from several goroutines.
var encoder = sync.OnceValues(newEncoder)

// newEncoder compresses little at a time: a small window keeps its tables small.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(256<<10), zstd.WithEncoderCRC(true))
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(4*maxSites*binary.MaxVarintLen64))
}

// addProfile writes a profile as the difference to the process's last key frame,
// or as a key frame.
func (w *Writer) addProfile(key sample.ProcessKey, p *sample.HeapProfile) (int64, error) {
	s, err := w.processOf(key)
	if err != nil {
		return 0, err
	}
	if !s.frame.usable() {
		id, err := w.addCounts(s, p, nil, nil)
		if err == nil {
			w.keep(s, id, p.Counts)
		}
		return id, err
	}
	s.frame.shared++
	return w.addCounts(s, p, s.frame.id, s.frame.counts)
}

// addCounts writes a profile against the counts of the one with the row base.
func (w *Writer) addCounts(s *processState, p *sample.HeapProfile, base driver.Value, against []sample.BucketCounts) (int64, error) {
	return w.add(&tableProfile, w.when(p.At), s.id, p.Rate, int64(p.Cycle), int64(len(p.Counts)), base, packCounts(w.zstd, p.Counts, against))
}

// packCounts writes counts as four columns of zigzag varints, compressed:
// published allocs and frees as differences to those of base (0 where base is
// shorter), now's allocs and frees as what they have above the published ones.
func packCounts(z *zstd.Encoder, counts, base []sample.BucketCounts) []byte {
	raw := make([]byte, 0, 5*len(counts))
	for column := range 4 {
		for i := range counts {
			var b sample.BucketCounts
			if i < len(base) {
				b = base[i]
			}
			raw = binary.AppendVarint(raw, difference(&counts[i], &b, column))
		}
	}
	return z.EncodeAll(raw, nil)
}

func difference(c, base *sample.BucketCounts, column int) int64 {
	switch column {
	case 0:
		return int64(c.PubAllocs - base.PubAllocs)
	case 1:
		return int64(c.PubFrees - base.PubFrees)
	case 2:
		return int64(c.NowAllocs - c.PubAllocs)
	default:
		return int64(c.NowFrees - c.PubFrees)
	}
}

var errColumns = errors.New("columns of a heap profile do not decode")

// unpackCounts reads n sites as packCounts wrote them. It refuses what is not
// exactly that.
func unpackCounts(z *zstd.Decoder, blob []byte, n int, base []sample.BucketCounts) ([]sample.BucketCounts, error) {
	raw, err := inflate(z, blob, 4*n)
	if err != nil {
		return nil, err
	}
	counts := make([]sample.BucketCounts, n)
	copy(counts, base)
	for column := range 4 {
		for i := range counts {
			v, size := binary.Varint(raw)
			if size <= 0 {
				return nil, errColumns
			}
			raw = raw[size:]
			c := &counts[i]
			switch column {
			case 0:
				c.PubAllocs += uint64(v)
			case 1:
				c.PubFrees += uint64(v)
			case 2:
				c.NowAllocs = c.PubAllocs + uint64(v)
			default:
				c.NowFrees = c.PubFrees + uint64(v)
			}
		}
	}
	if len(raw) != 0 {
		return nil, errColumns
	}
	return counts, nil
}

// packNumbers writes numbers as varints, compressed, their count before them.
func packNumbers(z *zstd.Encoder, list []uint64) []byte {
	raw := binary.AppendUvarint(make([]byte, 0, 2*len(list)), uint64(len(list)))
	for _, v := range list {
		raw = binary.AppendUvarint(raw, v)
	}
	return z.EncodeAll(raw, nil)
}

func unpackNumbers(z *zstd.Decoder, blob []byte) ([]uint64, error) {
	raw, err := inflate(z, blob, 1)
	if err != nil {
		return nil, err
	}
	n, size := binary.Uvarint(raw)
	raw = raw[max(size, 0):]
	if size <= 0 || n > uint64(len(raw)) {
		return nil, errColumns
	}
	list := make([]uint64, n)
	for i := range list {
		v, size := binary.Uvarint(raw)
		if size <= 0 {
			return nil, errColumns
		}
		list[i], raw = v, raw[size:]
	}
	if len(raw) != 0 {
		return nil, errColumns
	}
	return list, nil
}

// inflate decompresses at least atLeast bytes, a byte for each number in them:
// more numbers than bytes are refused before anything is made for them.
func inflate(z *zstd.Decoder, blob []byte, atLeast int) ([]byte, error) {
	raw, err := z.DecodeAll(blob, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errColumns, err)
	}
	if atLeast < 0 || len(raw) < atLeast {
		return nil, errColumns
	}
	return raw, nil
}
