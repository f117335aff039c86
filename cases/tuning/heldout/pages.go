package main

import (
	"bytes"
	"container/list"
	"fmt"
	"html/template"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"strings"
	"sync"

	"github.com/gorilla/mux"
)

const (
	visitors    = 4
	visits      = 30   // of each visitor, one after the other with a session each
	pagesOf     = 24   // of a visit
	mostVisits  = 60   // sessions that are kept: the one not used for longest goes
	rowsOf      = 60   // of a page
	remembers   = 16   // pages that a session keeps for going back
	basketEvery = 8    // pages between two articles that are put into the basket
	articles    = 5000 // of the shop
)

// article is what the shop sells.
type article struct {
	ID    int
	Name  string
	Text  string
	Cents int
}

// session is what the shop knows of a visitor.
type session struct {
	id      string
	basket  []article
	visited [][]byte // pages as they were rendered
}

// sessions keeps those used last.
type sessions struct {
	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List // of *session, the last used in front
}

// of finds a session or begins one.
func (s *sessions) of(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byID[id]; ok {
		s.order.MoveToFront(e)
		return e.Value.(*session)
	}
	one := &session{id: id}
	s.byID[id] = s.order.PushFront(one)
	if last := s.order.Back(); len(s.byID) > mostVisits {
		delete(s.byID, s.order.Remove(last).(*session).id)
	}
	return one
}

// shop renders lists of its articles for visitors, each of whom has a session.
type shop struct {
	articles []article
	page     *template.Template
	sessions sessions
}

const pageText = `<!doctype html><title>Articles from {{.From}}</title>
<h1>{{len .Rows}} articles</h1>{{if .Basket}}<aside>{{range .Basket}}<p>{{.Name}}: {{euros .Cents}}{{end}}</aside>{{end}}
<table>{{range $i, $a := .Rows}}<tr class="{{if odd $i}}odd{{end}}"><td><a href="/article/{{$a.ID}}?q={{$a.Name}}">{{$a.Name}}</a>
<td title="{{$a.Text}}">{{$a.Text}}<td>{{euros $a.Cents}}</tr>{{end}}</table>`

func newShop() *shop {
	s := &shop{sessions: sessions{byID: map[string]*list.Element{}, order: list.New()}}
	rng := rand.New(rand.NewPCG(3, 4))
	for id := range articles {
		s.articles = append(s.articles, article{ID: id, Name: fmt.Sprintf("Article <%d>", id),
			Text: strings.Repeat("good & cheap ", 2+rng.IntN(16)), Cents: rng.IntN(100_000)})
	}
	s.page = template.Must(template.New("page").Funcs(template.FuncMap{
		"euros": func(cents int) string { return fmt.Sprintf("%d,%02d €", cents/100, cents%100) },
		"odd":   func(i int) bool { return i%2 == 1 },
	}).Parse(pageText))
	return s
}

// list answers with the articles from one on.
func (s *shop) list(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(mux.Vars(r)["from"])
	cookie, missing := r.Cookie("session")
	if err != nil || missing != nil || from < 0 || from+rowsOf > len(s.articles) {
		http.Error(w, "no such list", http.StatusBadRequest)
		return
	}
	one := s.sessions.of(cookie.Value)
	rows := s.articles[from : from+rowsOf]
	if from%basketEvery == 0 {
		one.basket = append(one.basket, rows[0])
	}
	var page bytes.Buffer
	err = s.page.Execute(&page, map[string]any{"From": from, "Rows": rows, "Basket": one.basket})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	one.visited = append(one.visited, page.Bytes())
	if len(one.visited) > remembers {
		one.visited = append([][]byte(nil), one.visited[1:]...)
	}
	_, _ = w.Write(page.Bytes()) // a visitor who has gone is no error
}

// pages runs the shop, and its visitors, to their end.
func pages() error {
	s := newShop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	router := mux.NewRouter()
	router.HandleFunc("/list/{from:[0-9]+}", s.list)
	server := &http.Server{Handler: router}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	errs := make(chan error, visitors)
	for n := range visitors {
		go func() { errs <- visit(n, "http://"+listener.Addr().String()) }()
	}
	for range visitors {
		if e := <-errs; e != nil {
			err = e
		}
	}
	if err == nil {
		fmt.Println("ended,", len(s.sessions.byID), "sessions")
	}
	return err
}

// visit looks at pages in one session after the other.
func visit(n int, url string) error {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	for v := range visits {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return err
		}
		client := http.Client{Jar: jar}
		for range pagesOf {
			r, err := http.NewRequest("GET", fmt.Sprintf("%s/list/%d", url, rng.IntN(articles-rowsOf)), nil)
			if err != nil {
				return err
			}
			r.AddCookie(&http.Cookie{Name: "session", Value: fmt.Sprintf("%d-%d", n, v)})
			answer, err := client.Do(r)
			if err != nil {
				return err
			}
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %s %w", answer.Status, body, err)
			}
		}
	}
	return nil
}
