// Causes is eleven small programs in one, each with a single fault that real programs
// have, and beside ten of them something innocent that also needs memory: a cache that is
// full and stays, JSON that makes garbage, or a file that is written. They are
// there to see whether a judge has learned causes or other programs by heart.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// fault is one of them.
type fault struct {
	class  string // under a limit of 256 MiB
	marked bool   // the line to blame is marked with its name; else it is a library's, or none
	run    func(w *work)
	beside string
}

var faults = map[string]fault{
	"substring": {"leak", true, substring, "json"},
	"defer":     {"leak", true, deferring, "cache"},
	"context":   {"leak", true, contexts, "file"},
	"buffer":    {"leak", true, buffer, "json"},
	"append":    {"leak", true, appending, "file"},
	"readall":   {"burst", true, readAll, "cache"},
	"fanout":    {"burst", true, fanOut, "file"},
	"stuck":     {"goroutine-leak", true, stuck, "json"},
	"bodies":    {"goroutine-leak", false, bodies, "cache"},
	"regexp":    {"churn", true, patterns, "file"},
	"freed":     {"idle-heap", false, freed, ""},
}

// work is done a piece at a time until the program's end.
type work struct {
	end  time.Time
	pace truth.Pace
}

// next is false at the end. made is what the piece before kept, by design.
func (w *work) next(made truth.Size) bool {
	w.pace.Made(made)
	return time.Now().Before(w.end)
}

func main() {
	name, beside := "append", ""
	flag.StringVar(&name, "fault", name, "what is wrong")
	flag.StringVar(&beside, "beside", "", "cache, json, file or none; empty: the one that goes with the fault")
	lasts := flag.Duration("for", 40*time.Second, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if name == "convert" {
		convert()
		return
	}
	f, ok := faults[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "there is no such fault:", name)
		os.Exit(2)
	}
	if *tell {
		t := truth.Truth{Program: "causes", Class: f.class, ClassUnlimited: f.class}
		if f.class == "burst" {
			t.ClassUnlimited = "healthy"
		}
		if f.marked {
			t.Blame(source, name)
		}
		t.Print()
	}
	if beside == "" {
		beside = f.beside
	}
	end := time.Now().Add(*lasts)
	distract(beside, end)
	f.run(&work{end: end, pace: truth.Pace{PerSecond: 24 * truth.MiB}})
}

// substring keeps a word of each line, and with it the line.
func substring(w *work) {
	var words []string
	for n := 0; w.next(64 * truth.KiB); n++ {
		line := strings.Repeat("word ", 13107) // truth: substring
		words = append(words, strings.Fields(line)[n%100])
	}
	fmt.Println(len(words), "words")
}

// deferring closes what each turn opened when the loop has ended.
func deferring(w *work) {
	for w.next(16 * truth.KiB) {
		page := make([]byte, 16*truth.KiB) // truth: defer
		truth.Touch(page)
		defer func() { page[0]++ }()
	}
}

// contexts never cancels what it makes for each piece of work.
func contexts(w *work) {
	all, cancel := context.WithCancel(context.Background())
	defer cancel()
	for w.next(300) {
		step(all)
	}
}

func step(all context.Context) {
	ctx, cancel := context.WithTimeout(all, time.Hour) // truth: context
	_ = cancel
	if ctx.Err() != nil {
		panic("an hour has passed")
	}
}

// buffer logs to memory that nobody reads.
func buffer(w *work) {
	var log bytes.Buffer
	line := bytes.Repeat([]byte("x"), 1<<10)
	for w.next(truth.KiB) {
		log.Write(line) // truth: buffer
	}
	fmt.Println(log.Len(), "bytes logged")
}

type event struct {
	at   time.Time
	text [40]byte
}

// appending remembers each event.
func appending(w *work) {
	var events []*event
	for w.next(64) {
		events = append(events, record())
	}
	fmt.Println(len(events), "events")
}

func record() *event { return &event{at: time.Now()} } // truth: append

// readAll reads compressed bodies whole, three at once.
func readAll(w *work) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 96*truth.MiB))
	_ = z.Close()
	var all sync.WaitGroup
	for range 3 {
		all.Add(1)
		go func() {
			defer all.Done()
			for w.next(0) {
				decompress(packed.Bytes())
			}
		}()
	}
	all.Wait()
}

func decompress(packed []byte) int {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	whole, _ := io.ReadAll(z) // truth: readall
	return bytes.Count(whole, []byte{1})
}

// fanOut starts a goroutine for each item, with no bound on how many.
func fanOut(w *work) {
	for wave := 1; w.next(0); wave++ {
		items := 8
		if wave%6 == 0 {
			items = 200
		}
		var all sync.WaitGroup
		for range items {
			all.Add(1)
			go func() {
				defer all.Done()
				resize()
			}()
		}
		all.Wait()
	}
}

func resize() {
	picture := make([]byte, 2*truth.MiB) // truth: fanout
	truth.Touch(picture)
	time.Sleep(500 * time.Millisecond) // a slow disk
	picture[0]++
}

// stuck sends answers that nobody receives any more.
func stuck(w *work) {
	for w.next(8 * truth.KiB) {
		answer := make(chan []byte)
		go send(answer)
	}
}

func send(answer chan<- []byte) {
	page := make([]byte, 6*truth.KiB)
	truth.Touch(page)
	answer <- page // truth: stuck
}

// bodies never closes what it gets, so that each request dials anew.
func bodies(w *work) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = rw.Write(make([]byte, 64*truth.KiB)) }))
	defer server.Close()
	for w.next(0) {
		if answer, err := http.Get(server.URL); err == nil {
			_ = answer.StatusCode
		}
	}
}

var matched int

// patterns compiles its pattern for every value.
func patterns(w *work) {
	debug.SetGCPercent(100)
	for w.next(0) {
		if regexp.MustCompile(`^([a-z]+[0-9]*|[A-Z]{2,9}(-[a-z]+)*)@[a-z.]+$`).MatchString("someone@example.org") { // truth: regexp
			matched++
		}
	}
}
