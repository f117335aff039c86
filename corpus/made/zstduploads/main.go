// Zstduploads packs what devices send, by valyala/gozstd, whose writers have their tables
// and windows in C's memory until they are released. A device that goes away in the middle
// never says that it is done, and its writer stays open. Repaired, one that is not heard of
// for a while is released.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"

	"github.com/valyala/gozstd"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const (
	// writerBytes is what an open writer takes, of tables, window and buffers.
	writerBytes = 1300 << 10
	keep        = 8
)

type upload struct {
	device string
	writer *gozstd.Writer
	packed counter
}

// counter is the store: it wants to know how much there is.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

type intake struct {
	open     map[string]*upload
	order    []string
	lines    []byte // 15 MiB: what devices have to say
	repaired bool
}

func main() {
	f := frame.Parse()
	in := &intake{open: map[string]*upload{}, repaired: f.Repaired}
	var text bytes.Buffer
	for n := 0; text.Len() < 15<<20; n++ {
		fmt.Fprintf(&text, "%d\ttemperature %d.%d\thumidity %d\n", n, n*7%30, n*3%10, n*13%100)
	}
	in.lines = text.Bytes()
	made := 0
	f.Each(func(i int) {
		for ; made*writerBytes < (i+1)*f.Unit; made++ {
			if err := in.take(made); err != nil {
				log.Fatal(err)
			}
		}
	})
	f.Stay()
}

// take has one device that sends all and one that goes away.
func (in *intake) take(i int) error {
	whole := in.begin(fmt.Sprintf("whole-%d", i))
	if err := in.part(whole, i, 64<<10); err != nil {
		return err
	}
	if err := in.end(whole); err != nil {
		return err
	}
	if in.repaired && len(in.order) >= keep {
		in.drop(in.open[in.order[0]])
	}
	return in.part(in.begin(fmt.Sprintf("device-%d", i)), i, 256<<10)
}

func (in *intake) begin(device string) *upload {
	u := &upload{device: device}
	u.writer = gozstd.NewWriterParams(&u.packed, &gozstd.WriterParams{CompressionLevel: 3, WindowLog: 16}) // truth: allocates
	in.open[device] = u                                                                                    // truth: keeps
	in.order = append(in.order, device)
	return u
}

func (in *intake) part(u *upload, i, size int) error {
	from := i * 4096 % (len(in.lines) - size)
	_, err := io.Copy(u.writer, bytes.NewReader(in.lines[from:from+size])) // truth: allocates
	return err
}

func (in *intake) end(u *upload) error {
	err := u.writer.Close()
	in.drop(u)
	return err
}

func (in *intake) drop(u *upload) {
	u.writer.Release()
	delete(in.open, u.device)
	for n, device := range in.order {
		if device == u.device {
			in.order = append(in.order[:n], in.order[n+1:]...)
			return
		}
	}
}
