// Goroutines is a program whose goroutines pile up: each waits for an answer
// that nobody sends, and holds a little. Its verdict is a goroutine leak; the
// line to blame is the one at which they wait.
//
// The linker has switched its heap profile off.
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

// ask starts one request; its goroutine is never answered.
func ask(answers chan []byte, held truth.Size) {
	go wait(answers, held) // truth: go
}

// wait holds its request while it waits.
func wait(answers chan []byte, held truth.Size) {
	request := make([]byte, held) // truth: held
	truth.Touch(request)
	answer := <-answers // truth: wait
	copy(request, answer)
}

func main() {
	held := 4 * truth.KiB
	flag.Var(&held, "held", "bytes that a goroutine holds")
	most := flag.Int("max", 100_000, "stop at so many goroutines")
	rate := flag.Int("rate", 10_000, "goroutines a second; 0: as fast as it goes")
	lasts := flag.Duration("for", time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "goroutines", Class: "goroutine-leak", ClassUnlimited: "goroutine-leak", ObjectBytes: int64(held)}
		t.LiveBytes = int64(*most) * int64(held)
		t.Blame(source, "wait")
		t.Mark(source, "go", "held")
		t.Print()
	}
	answers := make(chan []byte)
	end := time.Now().Add(*lasts)
	pace := truth.Pace{PerSecond: truth.Size(*rate)}
	for n := 1; n <= *most && time.Now().Before(end); n++ {
		ask(answers, held)
		if pace.Made(1); n%5000 == 0 {
			fmt.Println("goroutines", n)
		}
	}
	time.Sleep(time.Until(end))
	close(answers)
	fmt.Println("ended")
}
