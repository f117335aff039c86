// Cgopages has threads of a C library decode pages of text, one thread after the other. Of each page's words the
// library frees all but one of sixteen, which it keeps for its index: these lie between the freed ones, so that malloc
// can give no page of memory back, and each thread has an arena of its own that no other one fills again. Repaired, the
// index has a copy, of the last thread's words alone, and every word is freed. It needs cgo, and glibc.
package main

/*
#include <stdlib.h>
#include <string.h>

enum { word = 1000, kept = 16 };

static void **words;
static size_t used, room;

// decode adds the words of a page; 0: realloc had no memory to give.
static int decode(size_t bytes) {
	for (size_t i = 0; i < (bytes + word - 1) / word; i++) {
		if (used == room) {
			room = room ? 2 * room : 1024;
			void **more = realloc(words, room * sizeof *words);
			if (!more) return 0;
			words = more;
		}
		words[used] = malloc(word);
		if (!words[used]) return 0;
		memset(words[used++], 1, word);
	}
	return 1;
}

// close frees what is not in the index, or all of it.
static void close_pages(int all) {
	for (size_t i = 0; i < used; i++)
		if (all || i % kept) free(words[i]);
	used = 0;
}
*/
import "C"

import (
	"log"
	"runtime"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// each is how many pages a thread decodes.
const each = 128

// index is what a repaired program keeps of the words.
var index []byte

func main() {
	f := frame.Parse()
	d := newDecoder(f)
	f.Each(func(i int) {
		if i > 0 && i%each == 0 {
			d.finish()
			d = newDecoder(f)
		}
		d.pages <- f.Unit
		<-d.done
	})
	d.finish()
	f.Stay()
}

// decoder is a thread that decodes.
type decoder struct {
	pages chan int
	done  chan bool
}

func newDecoder(f *frame.Frame) *decoder {
	d := &decoder{make(chan int), make(chan bool)}
	go d.run(f)
	return d
}

func (d *decoder) finish() {
	close(d.pages)
	<-d.done
}

func (d *decoder) run(f *frame.Frame) {
	runtime.LockOSThread()
	decoded := 0
	for n := range d.pages {
		if C.decode(C.size_t(n)) == 0 { // truth: allocates
			log.Fatal("no memory")
		}
		decoded += n
		d.done <- true
	}
	if f.Repaired {
		index = frame.Touch(make([]byte, decoded/int(C.kept)))
		C.close_pages(1)
	} else {
		C.close_pages(0)
	}
	d.done <- true
	select {} // the library keeps its threads
}
