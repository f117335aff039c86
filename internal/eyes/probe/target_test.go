package probe

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAnAddressSaysWhatIsAsked(t *testing.T) {
	for _, c := range []struct {
		address, name, what string
		here                bool
	}{
		{"http://localhost:8080/a?token=x", "http://localhost:8080/a", "GET", true},
		{"https://me:secret@shop.example/", "https://shop.example/", "GET", false},
		{"http://[::1]:80", "http://[::1]:80", "GET", true},
		{"redis://127.0.0.1", "redis://127.0.0.1:6379", "PING", true},
		{"redis://:secret@10.0.0.3:7000/?set=hw", "redis://10.0.0.3:7000/", "SET", false},
		{"redis://127.0.0.1/3", "", "", false},
		{"localhost:8080", "", "", false},
		{"ftp://host/", "", "", false},
		{"http://", "", "", false},
		{"http://%zz", "", "", false},
	} {
		target, err := Parse(c.address)
		if c.name == "" {
			if err == nil {
				t.Errorf("%s is read as %s", c.address, target.Name())
			}
			continue
		}
		if err != nil || target.Name() != c.name || target.What() != c.what || target.Here() != c.here {
			t.Errorf("%s: %v, %s, %s, here %v", c.address, err, target.Name(), target.What(), target.Here())
		}
	}
}

// ask is one request to an address.
func ask(t *testing.T, address string, timeout time.Duration) (int, error) {
	t.Helper()
	target, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	a := target.asker()
	defer a.close()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	status, err := a.ask(ctx)
	if err != nil {
		err = plain(err)
	}
	return status, err
}

func TestWhatAWebServerAnswersIsAStatusOrAReason(t *testing.T) {
	hang := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("fine")) })
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.CopyN(w, strings.NewReader(strings.Repeat("x", 4*maxBody)), 4*maxBody)
	})
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) })
	mux.Handle("/moved", http.RedirectHandler("/ok", http.StatusFound))
	mux.HandleFunc("/dies", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	plainly, secure := httptest.NewServer(mux), httptest.NewTLSServer(mux)
	defer plainly.Close()
	defer secure.Close()
	defer close(hang)
	gone := httptest.NewServer(mux)
	gone.Close()
	for _, c := range []struct {
		address string
		status  int
		says    string
		timeout time.Duration
	}{
		{plainly.URL + "/ok", 200, "", time.Minute},
		{plainly.URL + "/none", 404, "", time.Minute},
		{plainly.URL + "/moved", 302, "", time.Minute},
		{plainly.URL + "/huge", 200, "", time.Minute},
		{plainly.URL + "/busy", 503, "the answer was 503 Service Unavailable", time.Minute},
		{plainly.URL + "/dies", 0, "the connection was closed", time.Minute},
		{plainly.URL + "/hangs", 0, sample.NoAnswer, 50 * time.Millisecond},
		{secure.URL + "/ok", 0, "failed to verify certificate", time.Minute},
		{gone.URL, 0, "nobody listens there", time.Minute},
	} {
		status, err := ask(t, c.address, c.timeout)
		if status != c.status || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d, %v; want %d, %q", c.address, status, err, c.status, c.says)
		}
	}
}

// respServer answers every command with the same text, and tells what it was sent.
func respServer(t *testing.T, reply string) (address string, got <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	sent := make(chan string, 64)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				b := make([]byte, 1024)
				for {
					n, err := conn.Read(b)
					if err != nil {
						return
					}
					sent <- string(b[:n])
					if reply == "" {
						continue
					}
					if _, err := io.WriteString(conn, reply); err != nil || reply == "x" {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), sent
}

func TestWhatARedisServerRepliesIsAnAnswerOrAReason(t *testing.T) {
	for _, c := range []struct {
		reply, says string
		timeout     time.Duration
	}{
		{"+PONG\r\n", "", time.Minute},
		{"$4\r\nPONG\r\n", "", time.Minute},
		{"$-1\r\n", "", time.Minute},
		{"_\r\n", "", time.Minute},
		{"-LOADING Redis is loading the dataset in memory\r\n", `the answer was "LOADING Redis`, time.Minute},
		{"HTTP/1.1 400 Bad Request\r\n\r\n", "not RESP", time.Minute},
		{strings.Repeat("x", 5000), "not RESP", time.Minute},
		{"$99999999\r\n", "not RESP", time.Minute},
		{"x", "the connection was closed", time.Minute},
		{"", sample.NoAnswer, 50 * time.Millisecond},
	} {
		address, _ := respServer(t, c.reply)
		_, err := ask(t, "redis://"+address, c.timeout)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v, want %q", c.reply, err, c.says)
		}
	}
}

func TestAPasswordIsSentFirstAndAKeyIsSet(t *testing.T) {
	address, got := respServer(t, "+OK\r\n")
	if _, err := ask(t, "redis://me:secret@"+address+"/?set=probe", time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\nsecret\r\n", "*3\r\n$3\r\nSET\r\n$5\r\nprobe\r\n$9\r\nhighwater\r\n"} {
		if sent := <-got; sent != want {
			t.Errorf("sent %q, want %q", sent, want)
		}
	}
}

func FuzzReadReply(f *testing.F) {
	for _, s := range []string{"+PONG\r\n", "-ERR x\r\n", "$4\r\nPONG\r\n", "$-1\r\n", "\n", "$\r\n", "$1048577\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		err := readReply(bufio.NewReaderSize(strings.NewReader(s), 4096))
		if err == nil && (len(s) < 3 || !strings.ContainsRune("+:_$", rune(s[0]))) {
			t.Errorf("%q is an answer", s)
		}
	})
}
