package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// SQLite's write-ahead log (sqlite.org/fileformat2.html, "WAL file format"): a
// header, then frames of a page each. Every frame has the log's salts and a
// checksum over all before it.
const (
	walHeader = 32
	walFrame  = 24
)

// checkWAL says whether a log has frames that SQLite will pass over because one
// before them is damaged. A last frame that is not whole is how a killed writer
// leaves it, and frames with other salts are of an earlier log: both are sound.
func checkWAL(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	w := walReader{head: make([]byte, walHeader)}
	if _, err := io.ReadFull(in, w.head); err != nil {
		return endOfWAL(err)
	}
	if !w.begin() {
		return errors.New("the first bytes of its -wal file are damaged, and what was written last is lost")
	}
	frame := make([]byte, walFrame+w.page)
	for n := 1; ; n++ {
		if _, err := io.ReadFull(in, frame); err != nil {
			return endOfWAL(err)
		}
		if !w.next(frame, n) {
			return fmt.Errorf("frame %d of its -wal file is damaged, and what was written after it is lost", w.broken)
		}
	}
}

func endOfWAL(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// walReader follows a log.
type walReader struct {
	head   []byte
	page   int
	order  binary.ByteOrder
	s1, s2 uint32
	broken int // the first frame that does not fit, 0: all do
}

// begin reads the header.
func (w *walReader) begin() bool {
	magic := binary.BigEndian.Uint32(w.head)
	w.page = int(binary.BigEndian.Uint32(w.head[8:]))
	if magic&^1 != 0x377f0682 || w.page < 512 || w.page > 65536 || w.page%8 != 0 {
		return false
	}
	w.order = binary.LittleEndian
	if magic&1 == 1 {
		w.order = binary.BigEndian
	}
	w.sum(w.head[:24])
	return w.s1 == binary.BigEndian.Uint32(w.head[24:]) && w.s2 == binary.BigEndian.Uint32(w.head[28:])
}

// next reads frame number n; false: it is sound, and one before it was not.
func (w *walReader) next(frame []byte, n int) bool {
	ours := string(frame[8:16]) == string(w.head[16:24])
	if w.broken != 0 {
		return !ours
	}
	w.sum(frame[:8])
	w.sum(frame[walFrame:])
	if !ours || w.s1 != binary.BigEndian.Uint32(frame[16:]) || w.s2 != binary.BigEndian.Uint32(frame[20:]) {
		w.broken = n
	}
	return true
}

// sum goes on with the log's checksum.
func (w *walReader) sum(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		w.s1 += w.order.Uint32(b) + w.s2
		w.s2 += w.order.Uint32(b[4:]) + w.s1
	}
}
