// Target fills C's malloc in a known way, prints what mallinfo2(3) says of it, and once more
// for each line of its standard input, with whose end it ends.
package main

/*
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *blocks[2000000];

static void fill(size_t n, size_t size) {
	for (size_t i = 0; i < n; i++) {
		blocks[i] = malloc(size);
		memset(blocks[i], 1, size);
	}
}

// sparse frees all blocks but one of so many.
static void sparse(size_t n, size_t keep) {
	for (size_t i = 0; i < n; i++)
		if (i % keep) free(blocks[i]);
}

struct job { size_t n, size, keep; pthread_barrier_t *done; };

// thread does the same in an arena of its own, and stays.
static void *thread(void *arg) {
	struct job *j = arg;
	void **list = malloc(j->n * sizeof *list);
	for (size_t i = 0; i < j->n; i++) memset(list[i] = malloc(j->size), 1, j->size);
	for (size_t i = 0; i < j->n; i++) if (i % j->keep) free(list[i]);
	pthread_barrier_wait(j->done);
	for (;;) pthread_barrier_wait(j->done);
}

static void threads(int count, size_t n, size_t size, size_t keep) {
	static struct job job;
	static pthread_barrier_t done;
	pthread_barrier_init(&done, NULL, count + 1);
	job = (struct job){n, size, keep, &done};
	for (int i = 0; i < count; i++) {
		pthread_t t;
		pthread_create(&t, NULL, thread, &job);
	}
	pthread_barrier_wait(&done);
}

// forge rewrites what malloc keeps of the arenas of threads: the list of arenas ends in a circle, their sizes
// are all there is, and the first chunks are of no size, of all addresses, and larger than the heap. Nothing
// in C may call malloc afterwards.
static void *made[8];
static int forgeries;

static void *remembers(void *arg) {
	struct job *j = arg;
	size_t *first = NULL;
	for (size_t i = 0; i < j->n; i++) {
		size_t *p = malloc(j->size);
		memset(p, 1, j->size);
		if (!first) first = p;
	}
	made[__sync_fetch_and_add(&forgeries, 1)] = first;
	pthread_barrier_wait(j->done);
	for (;;) pthread_barrier_wait(j->done);
}

static void forge(int count, size_t n, size_t size, int list) {
	static struct job job;
	static pthread_barrier_t done;
	pthread_barrier_init(&done, NULL, count + 1);
	job = (struct job){n, size, 1, &done};
	for (int i = 0; i < count; i++) {
		pthread_t t;
		pthread_create(&t, NULL, remembers, &job);
	}
	pthread_barrier_wait(&done);
	static const size_t sizes[] = {1, ~(size_t)0, ((size_t)1 << 40) | 1, 17, 0};
	for (int i = 0; i < count; i++) {
		char *heap = (char *)((size_t)made[i] & ~(((size_t)64 << 20) - 1)); // HEAP_MAX_SIZE
		char *state = *(char **)heap;                                      // heap_info.ar_ptr
		((size_t *)made[i])[-1] = sizes[i % 5];
		*(char **)(heap + 8) = heap;            // heap_info.prev: itself
		if (list) *(char **)(state + 2160) = state; // malloc_state.next: itself
		*(size_t *)(state + 2184) = ~(size_t)0; // malloc_state.system_mem
		*(char **)(state + 16) = state;         // a fastbin
	}
}

static void trim(void) { malloc_trim(0); }

struct told { size_t uordblks, fordblks, hblks, hblkhd, arena, fsmblks; };

// tell asks malloc itself: mallinfo2 is of glibc 2.33.
static struct told tell(void) {
	struct mallinfo2 m = mallinfo2();
	return (struct told){m.uordblks, m.fordblks, m.hblks, m.hblkhd, m.arena, m.fsmblks};
}
*/
import "C"

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

func main() {
	runtime.LockOSThread() // main's arena is the one that its thread began with
	switch os.Args[1] {
	case "sparse":
		C.fill(150_000, 1000)
		C.sparse(150_000, 16)
	case "trimmed":
		C.fill(150_000, 1000)
		C.sparse(150_000, 16)
		C.trim()
	case "small": // what fastbins keep
		C.fill(1_000_000, 72)
		C.sparse(1_000_000, 10)
	case "arenas":
		C.threads(4, 60_000, 1000, 16)
	case "forged", "forged-list":
		list := C.int(0)
		if os.Args[1] == "forged-list" {
			list = 1
		}
		C.forge(5, 40_000, 1000, list)
		fmt.Println("forged")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	case "sizes":
		C.fill(1200, 20_000)
		C.fill(4000, 4096)
		C.fill(80_000, 100)
		C.fill(20, 1<<20)
		C.fill(3, 8<<20)
	}
	for in := bufio.NewReader(os.Stdin); ; {
		t := C.tell()
		b, err := json.Marshal(map[string]uint64{"in_use": uint64(t.uordblks), "free": uint64(t.fordblks), "mapped_blocks": uint64(t.hblks), "mapped": uint64(t.hblkhd), "system": uint64(t.arena), "fast": uint64(t.fsmblks)})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(b))
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
	}
}
