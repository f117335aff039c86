// Panics works and then reads beyond the end of a slice, with 52 MiB in use.
// Repaired, it looks first.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

func main() {
	f := frame.Parse()
	var parts [][]byte
	f.Total = 52 << 20
	f.Each(func(int) { parts = append(parts, frame.Touch(make([]byte, f.Unit))) })
	last := len(parts)
	if f.Repaired {
		last--
	}
	if pick(parts, last)[0] == 0 {
		panic("the last part is empty")
	}
	f.Stay()
}

func pick(parts [][]byte, i int) []byte {
	return parts[i] // truth: panics
}
