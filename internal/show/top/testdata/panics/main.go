// Command panics shows one program, and panics in the background when it is to be
// explained.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/show/top"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func main() {
	screen, err := top.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer screen.Close()
	board := top.NewBoard()
	key := sample.ProcessKey{PID: 7, Start: 1}
	life := board.Add(top.Seat{Name: "shown", PID: key.PID})
	point := sample.Point{At: time.Now(), Processes: []sample.Process{{Key: key, Resident: &sample.Resident{Total: sample.MiB}}}}
	for _, err := range []error{life.Program(sample.Program{Key: key, Name: "shown"}), life.Point(&point)} {
		if err != nil {
			panic(err)
		}
	}
	top.Run(context.Background(), screen, top.Options{Board: board, How: "a test", Explain: func(string, int) (string, error) { panic("as the test asks") }})
}
