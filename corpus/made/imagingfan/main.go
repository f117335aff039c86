// Imagingfan makes small pictures of what visitors upload, by disintegration/imaging. Twelve
// come at a time, over slow lines, and each is decoded while it comes: all twelve are there
// as pixels at once. Repaired, an upload is read as it is, and one is decoded at a time.
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math"
	"sync"
	"time"

	"github.com/disintegration/imaging"
	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const atOnce = 12

type album struct {
	thumbs   [256][]byte // 16 MiB: of the newest
	decoding sync.Mutex
	repaired bool
}

func main() {
	f := frame.Parse()
	a := &album{repaired: f.Repaired}
	for n := range a.thumbs {
		a.thumbs[n] = frame.Touch(make([]byte, 64<<10))
	}
	upload, err := paint(int(f.Total / atOnce))
	if err != nil {
		log.Fatal(err)
	}
	for round := 0; !f.Over(); round++ {
		if err := a.take(context.Background(), round, upload); err != nil {
			log.Fatal(err)
		}
		for next := time.Now().Add(1500 * time.Millisecond); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// paint makes an upload of a picture that has size bytes of pixels.
func paint(size int) ([]byte, error) {
	side := int(math.Sqrt(float64(size) / 4))
	picture := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			picture.SetNRGBA(x, y, color.NRGBA{byte(x / 8), byte(y / 8), byte(x * y >> 8), 254})
		}
	}
	var upload bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&upload, picture)
	return upload.Bytes(), err
}

// line is an upload over a slow line, of about a second.
type line struct {
	left []byte
	each int
}

func (l *line) Read(p []byte) (int, error) {
	if len(l.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.left[:min(len(l.left), l.each)])
	l.left = l.left[n:]
	time.Sleep(time.Second * time.Duration(n) / time.Duration(l.each*50))
	return n, nil
}

func (a *album) take(ctx context.Context, round int, upload []byte) error {
	group, _ := errgroup.WithContext(ctx)
	for n := range atOnce {
		group.Go(func() error { // truth: starts
			slot := (round*atOnce + n) % len(a.thumbs)
			if err := a.thumb(slot, &line{left: upload, each: max(1, len(upload)/50)}); err != nil { // truth: starts
				return fmt.Errorf("upload %d: %w", slot, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (a *album) thumb(slot int, from io.Reader) error {
	if a.repaired {
		file, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		a.decoding.Lock()
		defer a.decoding.Unlock()
		from = bytes.NewReader(file)
	}
	picture, err := imaging.Decode(from, imaging.AutoOrientation(false)) // truth: allocates
	if err != nil {
		return err
	}
	small := imaging.Thumbnail(picture, 128, 128, imaging.Box) // truth: allocates
	copy(a.thumbs[slot], small.Pix)
	return nil
}
