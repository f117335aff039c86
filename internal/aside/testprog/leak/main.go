// Leak is a program whose live heap grows with its work and never comes back:
// every unit of work is remembered in a map. Its verdict is a leak, and the
// line to blame is the one that allocates what is remembered.
//
// The linker has switched its heap profile off, as for most services.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// index remembers every unit of work by its number.
type index struct {
	units map[int][]byte
}

// remember is the fault: nothing ever forgets.
func (x *index) remember(number int, size truth.Size) {
	kept := make([]byte, size) // truth: leak
	truth.Touch(kept)
	x.units[number] = kept
}

// work handles one unit: some garbage, and one thing remembered.
func (x *index) work(number int, size, garbage truth.Size) {
	scratch = make([]byte, garbage) // truth: garbage
	truth.Touch(scratch)
	x.remember(number, size)
}

var scratch []byte // so that the garbage is made on the heap

func main() {
	unit, garbage, rate, limit := 64*truth.KiB, 32*truth.KiB, 20*truth.MiB, truth.GiB
	flag.Var(&unit, "unit", "bytes remembered by a unit of work")
	flag.Var(&garbage, "garbage", "bytes of garbage a unit of work makes")
	flag.Var(&rate, "rate", "bytes remembered a second; 0: as fast as it goes")
	flag.Var(&limit, "max", "stop growing at so many bytes remembered")
	lasts := flag.Duration("for", time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "leak", Class: "leak", ClassUnlimited: "leak", LiveBytes: int64(limit), ObjectBytes: int64(unit)}
		t.Blame(source, "leak")
		t.Mark(source, "garbage")
		t.Print()
	}
	run(&index{units: make(map[int][]byte)}, unit, garbage, rate, limit, *lasts)
}

// run works until max bytes are remembered, then keeps them until its time is over.
func run(x *index, unit, garbage, rate, limit truth.Size, lasts time.Duration) {
	end := time.Now().Add(lasts)
	pace := truth.Pace{PerSecond: rate}
	for n, live := 1, unit; live <= limit && time.Now().Before(end); n, live = n+1, live+unit {
		x.work(n, unit, garbage)
		pace.Made(unit)
		if live%(16*truth.MiB) < unit {
			fmt.Println("units", n, "remembered", live.Progress())
		}
	}
	time.Sleep(time.Until(end))
	fmt.Println("ended with", len(x.units), "units remembered")
}
