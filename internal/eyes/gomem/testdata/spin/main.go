// Spin is a program whose goroutines never leave their own code: one writes memory three calls deep, one behind an
// interface, and main waits. It prints a line when both are at it.
package main

import "fmt"

type filler interface {
	fill(b []byte, begun chan<- bool) int
}

type pages struct{ step int }

//go:noinline
func (p *pages) fill(b []byte, begun chan<- bool) int { return spin(b, p.step, begun) }

//go:noinline
func spin(b []byte, step int, begun chan<- bool) (n int) {
	begun <- true
	for {
		for i := 0; i < len(b); i += step {
			b[i]++
			n += int(b[i])
		}
	}
}

//go:noinline
func direct(begun chan<- bool) int { return middle(begun, [40]int{1}) + 1 }

//go:noinline
func middle(begun chan<- bool, pad [40]int) int {
	return spin(make([]byte, 1<<20), 1+pad[1], begun) + pad[0]
}

//go:noinline
func through(f filler, begun chan<- bool) int { return f.fill(make([]byte, 1<<20), begun) + 1 }

func main() {
	begun := make(chan bool)
	go direct(begun)
	<-begun
	go through(&pages{step: 1}, begun)
	<-begun
	fmt.Println("both run")
	select {}
}
