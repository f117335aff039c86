package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A finished recording is sealed: behind its last page, where SQLite does not look
// (the header says how many pages there are), follow
//
//	4 bytes a page     its CRC-32C
//	8 bytes            "HwRcSums"
//	4 bytes            page size
//	4 bytes            number of pages
//	4 bytes            CRC-32C of all of the above
//
// all big-endian. They tell chance, a bad disk or a bad copy, not a forger.
const (
	sealMagic  = "HwRcSums"
	sealFooter = len(sealMagic) + 12
	sealMeta   = "crc32c" // the value of metaSealed
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sums are the checksums of a recording's pages; nil: it has none.
type sums struct {
	page int64  // bytes
	list []byte // 4 a page
}

func (s *sums) pages() int64 { return int64(len(s.list) / 4) }

// wrong says whether a page, counted from 0, is another than was written.
func (s *sums) wrong(n int64, page []byte) bool {
	return crc32.Checksum(page, castagnoli) != binary.BigEndian.Uint32(s.list[4*n:])
}

// errSums says that a file has checksums that were changed themselves.
var errSums = errors.New("its checksums are damaged")

// readSums finds the checksums at the end of a file of that size; nil: there are
// none, or there is no telling that there were.
func readSums(f io.ReaderAt, size int64) (*sums, error) {
	footer := make([]byte, sealFooter)
	if size < int64(sealFooter) {
		return nil, nil
	}
	if _, err := f.ReadAt(footer, size-int64(sealFooter)); err != nil {
		return nil, err
	}
	if string(footer[:len(sealMagic)]) != sealMagic {
		return nil, nil
	}
	page, pages := int64(binary.BigEndian.Uint32(footer[8:])), int64(binary.BigEndian.Uint32(footer[12:]))
	if page < 512 || page > 65536 || page*pages+4*pages+int64(sealFooter) != size {
		return nil, errSums
	}
	all := make([]byte, 4*pages+int64(sealFooter)) // less than the file has
	if _, err := f.ReadAt(all, page*pages); err != nil {
		return nil, err
	}
	if crc32.Checksum(all[:len(all)-4], castagnoli) != binary.BigEndian.Uint32(all[len(all)-4:]) {
		return nil, errSums
	}
	return &sums{page, all[:4*pages]}, nil
}

// Seal appends the checksums of a finished recording's pages. What lay behind the
// pages is replaced.
func Seal(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = seal(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("seal %s: %w", path, err)
	}
	return nil
}

func seal(f *os.File) error {
	h, err := readHeader(f)
	if err != nil {
		return err
	}
	if h.have < h.want {
		return ErrCut{h.have, h.want}
	}
	tail := make([]byte, 0, 4*(h.want/h.page)+int64(sealFooter))
	const together = 64
	pages := make([]byte, together*h.page)
	for at := int64(0); at < h.want; {
		part := pages[:min(int64(len(pages)), h.want-at)]
		if _, err := f.ReadAt(part, at); err != nil {
			return err
		}
		at += int64(len(part))
		for ; len(part) > 0; part = part[h.page:] {
			tail = binary.BigEndian.AppendUint32(tail, crc32.Checksum(part[:h.page], castagnoli))
		}
	}
	tail = append(tail, sealMagic...)
	tail = binary.BigEndian.AppendUint32(tail, uint32(h.page))
	tail = binary.BigEndian.AppendUint32(tail, uint32(h.want/h.page))
	tail = binary.BigEndian.AppendUint32(tail, crc32.Checksum(tail, castagnoli))
	if err := f.Truncate(h.want); err != nil {
		return err
	}
	_, err = f.WriteAt(tail, h.want)
	return err
}
