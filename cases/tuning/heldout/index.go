package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

const (
	clients  = 4
	batches  = 300   // of each client
	lines    = 1000  // of a batch
	perBlock = 20000 // lines, after which a block is closed
	kept     = 24    // blocks: the oldest goes
	askEvery = 10    // batches between two questions
	mostHits = 200
)

// block is lines and where their words are.
type block struct {
	lines []string
	words map[string][]int32
}

// store is the blocks, the last one open.
type store struct {
	mu     sync.RWMutex
	blocks []*block
	seen   int
}

// add takes a line apart.
func (s *store) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen%perBlock == 0 {
		s.blocks = append(s.blocks, &block{words: map[string][]int32{}})
		if len(s.blocks) > kept {
			s.blocks = append([]*block(nil), s.blocks[1:]...)
		}
	}
	s.seen++
	b := s.blocks[len(s.blocks)-1]
	n := int32(len(b.lines))
	b.lines = append(b.lines, line)
	for word := range strings.FieldsSeq(line) {
		b.words[word] = append(b.words[word], n)
	}
}

// find gives the newest lines with a word.
func (s *store) find(word string) (hits []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := len(s.blocks) - 1; i >= 0; i-- {
		at := s.blocks[i].words[word]
		for j := len(at) - 1; j >= 0 && len(hits) < mostHits; j-- {
			hits = append(hits, s.blocks[i].lines[at[j]])
		}
	}
	return hits
}

// ServeHTTP takes lines by POST, and answers /?word=WORD.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		in := bufio.NewScanner(r.Body)
		for in.Scan() {
			s.add(in.Text())
		}
		return
	}
	for _, line := range s.find(r.URL.Query().Get("word")) {
		fmt.Fprintln(w, line)
	}
}

// index serves until its clients have sent all.
func index() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &store{}
	server := &http.Server{Handler: s}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	var all sync.WaitGroup
	failed := make([]error, clients)
	for n := range clients {
		all.Go(func() { failed[n] = send("http://"+l.Addr().String()+"/", rand.New(rand.NewPCG(3, uint64(n)))) })
	}
	all.Wait()
	err = errors.Join(errors.Join(failed...), server.Close())
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	fmt.Println("ended,", s.seen, "lines,", len(s.blocks), "blocks held")
	return err
}

// send is one client.
func send(address string, rng *rand.Rand) error {
	for n := range batches {
		r, err := http.Post(address, "text/plain", bytes.NewReader(batch(rng)))
		if err == nil && n%askEvery == 0 {
			drain(r)
			r, err = http.Get(address + "?word=" + url.QueryEscape(fmt.Sprint("user=", rng.IntN(5000))))
		}
		if err != nil {
			return err
		}
		drain(r)
	}
	return nil
}

func drain(r *http.Response) {
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
}

var (
	levels = []string{"INFO", "INFO", "INFO", "WARN", "ERROR"}
	paths  = []string{"/login", "/cart", "/orders", "/search", "/static/app.js"}
)

func batch(rng *rand.Rand) []byte {
	var b bytes.Buffer
	for range lines {
		fmt.Fprintf(&b, "level=%s path=%s user=%d request=%016x status=%d took=%dms host=web-%d\n", levels[rng.IntN(len(levels))],
			paths[rng.IntN(len(paths))], rng.IntN(5000), rng.Uint64(), 200+100*rng.IntN(4), rng.IntN(900), rng.IntN(12))
	}
	return b.Bytes()
}
