// Longpoll lets the pages of a chat wait for news: a request is answered at once with its
// header, so that no proxy gives it up, and then waits until the room has a message. A reader
// who closes the page is not missed: the handler does not look at the request's context, and
// in a room that is quiet it waits for ever. Repaired, it ends when the reader is gone.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type room struct {
	mu   sync.Mutex
	news chan struct{} // closed by the next message
	last string
}

// message wakes who waits in the room.
func (r *room) message(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = text
	close(r.news)
	r.news = make(chan struct{})
}

func (r *room) changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.news
}

type chat struct {
	rooms   []*room
	page    int
	looks   bool
	history map[int][]string // 20 MiB
}

func newChat(page int, looks bool) *chat {
	c := &chat{page: page, looks: looks, history: map[int][]string{}}
	for i := range 40 {
		c.rooms = append(c.rooms, &room{news: make(chan struct{})})
		for n := range 8 << 10 {
			c.history[i] = append(c.history[i], fmt.Sprintf("message %d of room %d, with a text", n, i))
		}
	}
	return c
}

// poll is the handler.
func (c *chat) poll(w http.ResponseWriter, r *http.Request) {
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/rooms/%d", &n); err != nil {
		http.NotFound(w, r)
		return
	}
	draft := c.draft(n)
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	if !c.wait(r.Context(), n) {
		return
	}
	w.Write(draft)
}

// draft is the page without what is to come.
func (c *chat) draft(n int) []byte {
	page := frame.Touch(make([]byte, c.page)) // truth: allocates
	for i, line := range c.history[n][:8] {
		copy(page[i*64:], line)
	}
	return page
}

func (c *chat) wait(ctx context.Context, n int) bool {
	var gone <-chan struct{}
	if c.looks {
		gone = ctx.Done()
	}
	select { // truth: waits
	case <-c.rooms[n].changed(): // truth: waits
		return true
	case <-gone:
		return false
	}
}

// visit opens a page and closes it.
func visit(c *http.Client, address string) error {
	answer, err := c.Get(address)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func main() {
	f := frame.Parse()
	c := newChat(f.Unit, f.Repaired)
	mux := http.NewServeMux()
	mux.HandleFunc("/rooms/", c.poll) // truth: handles
	server := httptest.NewServer(mux)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	f.Each(func(i int) {
		if err := visit(client, fmt.Sprintf("%s/rooms/%d", server.URL, 1+i%39)); err != nil {
			log.Fatal(err)
		}
		if i%20 == 0 {
			c.rooms[0].message("hello") // the one room that is not quiet
		}
	})
	f.Stay()
}
