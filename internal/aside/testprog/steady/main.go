// Steady is a program that is well: a constant live heap, a little garbage, an
// end. With -garbage 0 nothing allocates once it is ready, so its memory can be
// compared figure by figure: on SIGUSR1 it writes its own heap profile to the
// -profile file and its own runtime.MemStats beside it, and says so.
//
// Its heap profile is on, since it uses runtime/pprof.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// node makes small objects of two sizes, so that the profile must scale.
type node struct {
	next *node
	text []byte
}

// load makes the live heap: half of it pages of 16 KiB, half a list of nodes
// with 224 bytes each.
func load(n truth.Size) (pages [][]byte, list *node) {
	for left := n / 2; left > 0; left -= 16 * truth.KiB {
		page := make([]byte, 16*truth.KiB) // truth: live
		truth.Touch(page)
		pages = append(pages, page)
	}
	for left := n / 2; left > 0; left -= 256 {
		list = &node{next: list}      // truth: node
		list.text = make([]byte, 224) // truth: text
		truth.Touch(list.text)
	}
	return pages, list
}

// rest makes garbage at the rate until the end.
func rest(end time.Time, rate truth.Size) {
	if rate == 0 {
		time.Sleep(time.Until(end))
	}
	for pace := (truth.Pace{PerSecond: rate}); time.Now().Before(end); pace.Made(16 * truth.KiB) {
		garbage = make([]byte, 16*truth.KiB) // truth: garbage
	}
}

var garbage []byte

// answer writes the program's own view of itself at each SIGUSR1. The counters
// come first: writing the profile allocates.
func answer(asked <-chan os.Signal, path string) {
	for range asked {
		var own runtime.MemStats
		runtime.ReadMemStats(&own)
		if err := write(path, &own); err != nil {
			fmt.Fprintln(os.Stderr, "steady:", err)
			continue
		}
		fmt.Println("profile written")
	}
}

func write(path string, own *runtime.MemStats) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.Lookup("heap").WriteTo(f, 0); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	text, err := json.Marshal(own)
	if err != nil {
		return err
	}
	return os.WriteFile(path+".memstats", text, 0o644)
}

func main() {
	live, rate := 64*truth.MiB, 4*truth.MiB
	flag.Var(&live, "live", "bytes live all the time")
	flag.Var(&rate, "garbage", "bytes of garbage a second; 0: none")
	path := flag.String("profile", "", "file for its own heap profile, written at SIGUSR1")
	lasts := flag.Duration("for", 10*time.Second, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "steady", Class: "healthy", ClassUnlimited: "healthy"}
		t.LiveBytes, t.FloorBytes = int64(live), int64(live)
		t.Mark(source, "live", "node", "text", "garbage")
		t.Print()
	}
	pages, list := load(live)
	if *path != "" {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGUSR1)
		go answer(asked, *path)
	}
	runtime.GC()
	fmt.Println("ready, live", live.Progress())
	rest(time.Now().Add(*lasts), rate)
	runtime.KeepAlive(list)
	fmt.Println("ended with", len(pages), "pages live")
	runtime.KeepAlive(pages) // its length alone would not keep the memory
}
