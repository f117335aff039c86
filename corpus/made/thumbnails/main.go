// Thumbnails scales what users send, four pictures at a time. The file of a picture
// of one colour has some KiB, whatever its size in points, and is decoded whole.
// Repaired, one that says that it has more than a million points is refused.
package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const workers = 4

func main() {
	f := frame.Parse()
	side := int(math.Sqrt(float64(f.Total) / workers / 4)) // 4 bytes a point
	upload := blank(side)
	jobs, done := make(chan []byte), make(chan int)
	for range workers {
		go func() {
			for file := range jobs {
				done <- thumbnail(file, f.Repaired)
			}
		}()
	}
	for !f.Over() {
		for range workers {
			jobs <- upload
		}
		for range workers {
			<-done
		}
		for next := time.Now().Add(700 * time.Millisecond); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// blank is the file of a picture without anything on it. The rows are written by a
// picture that has no points of its own.
func blank(side int) []byte {
	var file bytes.Buffer
	if err := png.Encode(&file, empty{side}); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

func thumbnail(file []byte, repaired bool) int {
	if head, err := png.DecodeConfig(bytes.NewReader(file)); repaired && (err != nil || head.Width*head.Height > 1_000_000) {
		return 0
	}
	picture, err := png.Decode(bytes.NewReader(file)) // truth: allocates
	if err != nil {
		log.Fatal(err)
	}
	return scale(picture, 64)
}

// scale counts the dark points of a small copy.
func scale(from image.Image, side int) (dark int) {
	small := image.NewGray(image.Rect(0, 0, side, side))
	step := max(1, from.Bounds().Dx()/side)
	for i := range side * side {
		small.Set(i%side, i/side, from.At(i%side*step, i/side*step))
		if small.Pix[i] < 128 {
			dark++
		}
	}
	return dark
}

type empty struct{ side int }

func (e empty) ColorModel() color.Model { return color.NRGBAModel }
func (e empty) Bounds() image.Rectangle { return image.Rect(0, 0, e.side, e.side) }
func (e empty) At(x, y int) color.Color { return color.NRGBA{R: 200, G: 220, B: 240, A: 250} }
