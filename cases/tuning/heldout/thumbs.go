package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

const (
	photographs = 12
	uploads     = 60
	waiting     = 8 // uploads in the queue
	workers     = 2
)

// photos writes photographs of 1 to 12 megapixels.
func photos(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range photographs {
		width := 1200 + rng.IntN(2800)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, paint(rng, width, width*3/4), &jpeg.Options{Quality: 85}); err != nil {
			return err
		}
		if err := os.WriteFile(photo(dir, n), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func photo(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("%d.jpg", n)) }

// paint makes a picture of gradients with some grain.
func paint(rng *rand.Rand, width, height int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			grain := uint8(rng.UintN(16))
			m.SetRGBA(x, y, color.RGBA{uint8(x*255/width) | grain, uint8(y * 255 / height), uint8((x+y)/8) + grain, 255})
		}
	}
	return m
}

// album is the thumbnails that were made.
type album struct {
	mu     sync.Mutex
	made   map[string][]byte
	failed error
}

// thumbs takes uploads in, of which a few may wait, and keeps the thumbnails.
func thumbs(dir string) error {
	a := &album{made: map[string][]byte{}}
	queue := make(chan upload, waiting)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for u := range queue {
				a.take(u)
			}
		})
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var err error
	for n := 0; n < uploads && err == nil; n++ {
		u := upload{n: n}
		if u.body, err = os.ReadFile(photo(dir, rng.IntN(photographs))); err == nil {
			queue <- u
		}
	}
	close(queue)
	all.Wait()
	fmt.Println("ended,", len(a.made), "thumbnails")
	return errors.Join(err, a.failed)
}

type upload struct {
	n    int
	body []byte
}

// take makes the thumbnails of one photograph.
func (a *album) take(u upload) {
	m, err := jpeg.Decode(bytes.NewReader(u.body))
	if err != nil {
		a.keep("", nil, err)
		return
	}
	whole := image.NewRGBA(m.Bounds())
	draw.Draw(whole, whole.Bounds(), m, image.Point{}, draw.Src)
	for _, width := range []int{1024, 320, 96} {
		var b bytes.Buffer
		err := jpeg.Encode(&b, shrink(whole, width), nil)
		a.keep(fmt.Sprintf("%d-%d", u.n, width), b.Bytes(), err)
	}
}

func (a *album) keep(name string, made []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.failed = errors.Join(a.failed, err)
		return
	}
	a.made[name] = made
}

// shrink averages the pixels that fall together.
func shrink(m *image.RGBA, width int) *image.RGBA {
	from := m.Bounds()
	height := from.Dy() * width / from.Dx()
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			out.SetRGBA(x, y, average(m, image.Rect(x*from.Dx()/width, y*from.Dy()/height, (x+1)*from.Dx()/width, (y+1)*from.Dy()/height)))
		}
	}
	return out
}

func average(m *image.RGBA, r image.Rectangle) color.RGBA {
	var sum [3]int
	n := max(r.Dx()*r.Dy(), 1)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := m.RGBAAt(x, y)
			sum[0], sum[1], sum[2] = sum[0]+int(c.R), sum[1]+int(c.G), sum[2]+int(c.B)
		}
	}
	return color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255}
}
