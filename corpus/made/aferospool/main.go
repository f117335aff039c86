// Aferospool renders labels into scratch files by spf13/afero, in /dev/shm for speed. Where
// the printer refuses one its file stays open for another try that nobody makes. Repaired, it
// is closed. The files have no names, so that they end with the program.
package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log"
	"os"

	"github.com/spf13/afero"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errPaper = errors.New("no paper of this size")

type printer struct {
	fs       afero.Fs
	refused  []afero.File
	fonts    []byte // 17 MiB
	repaired bool
	sum      uint32
}

func main() {
	f := frame.Parse()
	p := &printer{fs: afero.NewOsFs(), fonts: frame.Touch(make([]byte, 17<<20)), repaired: f.Repaired}
	f.Each(func(i int) {
		if err := p.label(i, f.Unit); err != nil && !errors.Is(err, errPaper) {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// label prints a small label, and one of a size that is not there.
func (p *printer) label(i, size int) error {
	small, err := p.render(i, 16<<10)
	if err != nil {
		return err
	}
	if err := p.print(small, true); err != nil {
		return err
	}
	large, err := p.render(i, size)
	if err != nil {
		return err
	}
	return p.print(large, false)
}

func (p *printer) render(i, size int) (afero.File, error) {
	file, err := afero.TempFile(p.fs, "/dev/shm", "label-") // truth: opens
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	for n := 0; n < size; {
		from := (i*4096 + n) % (len(p.fonts) - 64<<10)
		part := p.fonts[from:][:min(64<<10, size-n)]
		if _, err := file.Write(part); err != nil { // truth: writes
			return nil, err
		}
		n += len(part)
	}
	return file, nil
}

func (p *printer) print(file afero.File, there bool) error {
	if !there {
		if p.repaired {
			return errors.Join(errPaper, file.Close())
		}
		p.refused = append(p.refused, file) // truth: keeps
		return fmt.Errorf("label: %w", errPaper)
	}
	var head [4 << 10]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return err
	}
	p.sum ^= crc32.ChecksumIEEE(head[:])
	return file.Close()
}
