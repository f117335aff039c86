// Busy makes garbage as fast as it can, and meanwhile starts itself six times,
// each time to sleep for half a second.
package main

import (
	"os"
	"os/exec"
	"time"
)

type node struct {
	next *node
	data [6]int
}

func main() {
	if len(os.Args) > 1 {
		time.Sleep(500 * time.Millisecond)
		return
	}
	for range 2 {
		go churn()
	}
	for range 6 {
		if err := exec.Command(os.Args[0], "child").Run(); err != nil {
			panic(err)
		}
	}
}

func churn() {
	for {
		var list *node
		for range 20000 {
			list = &node{next: list}
		}
	}
}
