// Command causes does once what each well-known cause of memory does, in a
// function of the cause's name, and prints who allocated what: a line for each
// stack, of its bytes and its functions, innermost first, the runtime's too.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"container/list"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/klauspost/compress/zstd"
)

const large = 1 << 20

var (
	keep []any
	last any
)

func main() {
	runtime.MemProfileRate = 1
	for _, f := range []func(){bodies, multipartForm, regexpPerCall, templatePerCall, deferInLoop, timerInLoop, tickerNotStopped, contextNotCancelled,
		bodyNotClosed, rowsNotClosed, statementNotClosed, decoderNotClosed, compressorPerCall, readAllDecompressed, readAll, wholeInputRetained,
		substringRetained, logWriter, jsonWhole, byReflection, cacheWithoutBound, listWithoutBound, poolOfBuffers, bufferDoubling, builderDoubling,
		stringConcatenation, appendDoubling, mapGrowth, plain} {
		f()
	}
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 100_000)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		panic("more stacks than there is room for")
	}
	for _, r := range records[:n] {
		fmt.Print(r.AllocBytes)
		frames := runtime.CallersFrames(r.Stack())
		for f, more := frames.Next(); ; f, more = frames.Next() {
			fmt.Print("\t", f.Function)
			if !more {
				break
			}
		}
		fmt.Println()
	}
	runtime.KeepAlive(keep)
}

func multipartForm() {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, _ := w.CreateFormFile("file", "name")
	part.Write(make([]byte, 8*large))
	w.Close()
	r := httptest.NewRequest("POST", "/", &body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	parse(r)
}

func parse(r *http.Request) { check(r.ParseMultipartForm(32 << 20)) }

func regexpPerCall() {
	for range 100 {
		keep = append(keep, regexp.MustCompile(`^([a-z]+)-(\d{4})-(\d\d)$`))
	}
}

func templatePerCall() {
	for range 100 {
		t, err := template.New("t").Parse("{{range .}}{{.Name}}, {{.Size}}{{end}}")
		check(err)
		keep = append(keep, t)
	}
}

func deferInLoop() {
	for i := range 10_000 {
		defer func() { keep[0] = i }()
	}
}

func timerInLoop() {
	for range 1000 {
		keep = append(keep, time.After(time.Hour))
	}
}

func tickerNotStopped() {
	for range 1000 {
		keep = append(keep, time.NewTicker(time.Hour))
	}
}

func contextNotCancelled() {
	parent, cancel := context.WithCancel(context.Background())
	keep = append(keep, cancel)
	for range 1000 {
		_, c := context.WithCancel(parent)
		keep = append(keep, c)
	}
}

func bodyNotClosed() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, large)) }))
	for range 10 {
		r, err := s.Client().Get(s.URL)
		check(err)
		keep = append(keep, r)
	}
}

func rowsNotClosed() {
	db := sql.OpenDB(connector{})
	for range 100 {
		rows, err := db.Query("SELECT 1")
		check(err)
		keep = append(keep, rows)
	}
}

func statementNotClosed() {
	db := sql.OpenDB(connector{})
	for range 100 {
		s, err := db.Prepare("SELECT 1")
		check(err)
		keep = append(keep, s)
	}
}

func decoderNotClosed() {
	for range 10 {
		d, err := zstd.NewReader(bytes.NewReader(squeezed))
		check(err)
		d.Read(make([]byte, 1))
		keep = append(keep, d)
	}
}

var squeezed = func() []byte {
	var b bytes.Buffer
	w, _ := zstd.NewWriter(&b)
	w.Write(make([]byte, large))
	w.Close()
	return b.Bytes()
}()

func compressorPerCall() {
	for range 20 {
		w := gzip.NewWriter(io.Discard)
		w.Write([]byte("text"))
		w.Close()
	}
}

var zipped = func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(make([]byte, 16*large))
	w.Close()
	return b.Bytes()
}()

func readAllDecompressed() {
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	check(err)
	b, err := io.ReadAll(z)
	check(err)
	keep = append(keep, b)
}

func readAll() {
	b, _ := io.ReadAll(io.LimitReader(zeros{}, 8*large))
	keep = append(keep, b)
}

func wholeInputRetained() {
	b, err := os.ReadFile("/proc/self/exe")
	check(err)
	keep = append(keep, b[:16])
}

func substringRetained() {
	lines := bufio.NewScanner(strings.NewReader(strings.Repeat(strings.Repeat("x", 1000)+"\n", 1000)))
	for lines.Scan() {
		keep = append(keep, lines.Text()[:8])
	}
}

func logWriter() {
	l := slog.New(slog.NewTextHandler(io.Discard, nil))
	for i := range 1000 {
		l.Info("done", "n", i, "text", "some text", "a", 1, "b", 2, "c", 3, "d", 4, "e", 5, "f", 6)
	}
}

func jsonWhole() {
	var v any
	check(json.Unmarshal([]byte("["+strings.TrimSuffix(strings.Repeat(`{"name":"x","n":[1,2,3]},`, 2000), ",")+"]"), &v))
	keep = append(keep, v)
}

func byReflection() {
	v := reflect.ValueOf(new(struct{ A, B [8]int })).Elem()
	for range 1000 {
		last = v.Field(0).Interface()
	}
}

func cacheWithoutBound() {
	m := new(sync.Map)
	for i := range 10_000 {
		m.Store(i, i)
	}
	keep = append(keep, m)
}

func listWithoutBound() {
	l := list.New()
	for i := range 10_000 {
		l.PushBack(i)
	}
	keep = append(keep, l)
}

func poolOfBuffers() {
	p := sync.Pool{New: func() any { return new([large]byte) }}
	for range 4 {
		keep = append(keep, p.Get())
	}
}

func bufferDoubling() {
	b := new(bytes.Buffer)
	for range 1000 {
		b.Write(make([]byte, 1000))
	}
	keep = append(keep, b)
}

func builderDoubling() {
	var b strings.Builder
	for range 10_000 {
		b.WriteString("some text, and some more of it")
	}
	keep = append(keep, b.String())
}

func stringConcatenation() {
	text := ""
	for range 1000 {
		text += "some text"
	}
	keep = append(keep, text)
}

func appendDoubling() {
	var list []int
	for i := range large {
		list = append(list, i)
	}
	keep = append(keep, list)
}

func mapGrowth() {
	m := map[int]int{}
	for i := range 100_000 {
		m[i] = i
	}
	keep = append(keep, m)
}

func plain() { keep = append(keep, make([]byte, large), new([large]byte)) }

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// connector is a database with nothing in it, whose rows never end.
type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) { return conn{}, nil }
func (connector) Driver() driver.Driver                        { return nil }

type conn struct{}

func (conn) Prepare(string) (driver.Stmt, error) { return stmt{}, nil }
func (conn) Close() error                        { return nil }
func (conn) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }

type stmt struct{}

func (stmt) Close() error                               { return nil }
func (stmt) NumInput() int                              { return 0 }
func (stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (stmt) Query([]driver.Value) (driver.Rows, error)  { return rows{}, nil }

type rows struct{}

func (rows) Columns() []string           { return []string{"a"} }
func (rows) Close() error                { return nil }
func (rows) Next(v []driver.Value) error { v[0] = int64(1); return nil }
