package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// header is how long a SQLite file is and how long it says it is
// (sqlite.org/fileformat2.html, "the database header"), in bytes. Only whole pages
// count as there.
type header struct{ have, want, page int64 }

func readHeader(f *os.File) (header, error) {
	info, err := f.Stat()
	if err != nil {
		return header{}, err
	}
	head := make([]byte, 100)
	n, err := io.ReadFull(io.NewSectionReader(f, 0, info.Size()), head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return header{}, err
	}
	return parseHeader(head[:n], info.Size())
}

const magic = "SQLite format 3\x00"

func parseHeader(head []byte, size int64) (h header, err error) {
	short := head[:min(len(head), len(magic))]
	if len(short) == 0 || string(short) != magic[:len(short)] {
		return h, ErrNotRecording
	}
	if len(head) < 100 {
		return h, ErrCut{Have: size}
	}
	if binary.BigEndian.Uint32(head[68:]) != applicationID {
		return h, ErrNotRecording
	}
	h.page = int64(binary.BigEndian.Uint16(head[16:]))
	if h.page == 1 {
		h.page = 65536
	}
	if h.page < 512 || h.page&(h.page-1) != 0 {
		return h, fmt.Errorf("page size %d: %w", h.page, ErrNotRecording)
	}
	h.want = h.page * int64(binary.BigEndian.Uint32(head[28:]))
	if size < h.page {
		return h, ErrCut{size, h.want}
	}
	h.have = size / h.page * h.page
	return h, nil
}
