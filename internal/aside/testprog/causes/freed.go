package main

import (
	"os"
	"os/exec"
	"runtime"
	"time"

	"testprog/truth"
)

// freed builds an index, lets go of it, and at once starts a program that needs the
// memory, which Go has freed by then and not yet given back.
func freed(w *work) {
	for w.next(0) {
		index := make([][]byte, 20*1024)
		for i := range index {
			index[i] = make([]byte, 8*truth.KiB)
			truth.Touch(index[i])
		}
		runtime.KeepAlive(index)
		index = nil
		runtime.GC()
		convert := exec.Command(os.Args[0], "-fault", "convert")
		convert.Stderr = os.Stderr
		if err := convert.Run(); err != nil {
			panic(err)
		}
	}
}

// convert is the program that freed starts.
func convert() {
	picture := make([]byte, 140*truth.MiB)
	truth.Touch(picture)
	time.Sleep(time.Second)
	runtime.KeepAlive(picture)
}
