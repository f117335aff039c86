// Avatars takes the pictures that users send and shows a small square of each, from its
// middle, on every page; so the squares are kept. A square that is cut out of a picture is a
// view of it, and with the view the whole picture is kept. Repaired, the square is copied.
package main

import (
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/draw"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const side = 8

type avatar struct {
	user   int
	square image.Image
	sum    uint32
}

type album struct {
	avatars map[int]*avatar
	copies  bool
	frames  []*image.Gray // 16 MiB of what is put around pictures
}

func newAlbum(copies bool) *album {
	a := &album{avatars: map[int]*avatar{}, copies: copies}
	for range 16 << 4 {
		g := image.NewGray(image.Rect(0, 0, 256, 256))
		frame.Touch(g.Pix)
		a.frames = append(a.frames, g)
	}
	return a
}

// decode makes a picture of size bytes, as the decoder of a format does.
func decode(user, size int) *image.RGBA {
	const width = 64
	p := image.NewRGBA(image.Rect(0, 0, width, max(side, size/(4*width)))) // truth: allocates
	frame.Touch(p.Pix)
	p.SetRGBA(user%width, 0, color.RGBA{uint8(user), 0, 0, 255})
	return p
}

func middle(r image.Rectangle) image.Rectangle {
	at := image.Pt((r.Min.X+r.Max.X-side)/2, (r.Min.Y+r.Max.Y-side)/2)
	return image.Rectangle{at, at.Add(image.Pt(side, side))}
}

func (a *album) crop(p *image.RGBA) image.Image {
	part := middle(p.Bounds())
	if a.copies {
		square := image.NewGray(image.Rect(0, 0, side, side))
		draw.Draw(square, square.Bounds(), p, part.Min, draw.Src)
		return square
	}
	return p.SubImage(part) // truth: views
}

func (a *album) add(user int, p *image.RGBA) {
	square := a.crop(p)
	h := fnv.New32a()
	fmt.Fprint(h, square.Bounds(), square.At(0, 0), a.frames[user%len(a.frames)].Pix[0])
	a.avatars[user] = &avatar{user, square, h.Sum32()} // truth: keeps
}

func main() {
	f := frame.Parse()
	a := newAlbum(f.Repaired)
	f.Each(func(i int) { a.add(i, decode(i, f.Unit)) })
	f.Stay()
	log.Printf("%d avatars", len(a.avatars))
}
