// Reqloggers gives each request its own logger of zap, which knows the request and
// its body, so that later steps can find it by the request's number. A request that
// is refused returns before its logger is taken out again. Repaired, that is
// deferred.
package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type loggers struct {
	mu   sync.Mutex
	base *zap.Logger
	open map[string]*zap.Logger
}

type api struct {
	loggers  *loggers
	repaired bool
	rules    map[int][]byte // 20 MiB
}

func main() {
	f := frame.Parse()
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.InfoLevel)
	a := &api{loggers: &loggers{base: zap.New(core), open: map[string]*zap.Logger{}}, repaired: f.Repaired, rules: map[int][]byte{}}
	for i := range 5 << 10 {
		a.rules[i] = frame.Touch(make([]byte, 4<<10))
	}
	signed, forged := letter("signed ", f.Unit), letter("forged ", f.Unit)
	f.Each(func(i int) {
		body := forged
		if i%20 == 0 {
			body = signed
		}
		r := httptest.NewRequest(http.MethodPost, "/letters", bytes.NewReader(body))
		r.Header.Set("X-Request-Id", "req-"+strconv.Itoa(i))
		a.ServeHTTP(httptest.NewRecorder(), r)
	})
	f.Stay()
}

func letter(kind string, size int) []byte {
	return append([]byte(kind), bytes.Repeat([]byte("Dear Sir or Madam, "), max(1, size*9/10/19))...)
}

// begin gives request id its logger.
func (l *loggers) begin(id string, body []byte) *zap.Logger {
	own := l.base.With(zap.String("request", id), zap.ByteString("body", body)) // truth: allocates
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[id] = own // truth: keeps
	return own
}

func (l *loggers) of(id string) *zap.Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[id]
}

func (l *loggers) end(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("X-Request-Id")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.loggers.begin(id, body) // truth: calls
	if a.repaired {
		defer a.loggers.end(id)
	}
	if err := a.check(id, body); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return // truth: forgets
	}
	a.loggers.of(id).Info("taken")
	w.WriteHeader(http.StatusAccepted)
	a.loggers.end(id)
}

func (a *api) check(id string, body []byte) error {
	rule := a.rules[len(id)*31%len(a.rules)]
	if len(rule) == 0 {
		log.Fatal("no such rule")
	}
	if !bytes.HasPrefix(body, []byte("signed ")) {
		a.loggers.of(id).Warn("not signed")
		return errors.New("not signed")
	}
	return nil
}
