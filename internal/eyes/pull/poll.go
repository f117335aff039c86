package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// profilePath is where net/http/pprof serves the heap profile.
const profilePath = "/debug/pprof/heap"

// Endpoint is the address of a heap profile.
type Endpoint struct {
	url    string
	accept string // the form asked for, "" for any
	client *http.Client
}

// NewEndpoint reads an address as people write it: "localhost:6060" and
// "http://host:6060" mean net/http/pprof's own path there. Each fetch may take
// so long.
func NewEndpoint(address string, timeout time.Duration) (*Endpoint, error) {
	return newEndpoint(address, profilePath, timeout)
}

// newEndpoint reads an address; path is what one without a path means.
func newEndpoint(address, path string, timeout time.Duration) (*Endpoint, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a web server", address)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	return &Endpoint{url: u.String(), client: &http.Client{Timeout: timeout}}, nil
}

// Name is the address without a password and a query, which may hold secrets.
func (e *Endpoint) Name() string {
	u, err := url.Parse(e.url)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// Fetch reads the profile once. Its error says in words for a user what was
// there instead.
func (e *Endpoint) Fetch(ctx context.Context) (*Profile, error) {
	body, err := e.read(ctx, maxProfile)
	if err != nil {
		return nil, err
	}
	p, err := ReadProfile(bytes.NewReader(body))
	if err == nil && p.At.IsZero() {
		p.At = time.Now()
	}
	return p, err
}

// read is the answer's body; ErrTooLarge where it is longer than most.
func (e *Endpoint) read(ctx context.Context, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, err
	}
	if e.accept != "" {
		request.Header.Set("Accept", e.accept)
	}
	answer, err := e.client.Do(request)
	if err != nil {
		return nil, plain(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer was %s%s", answer.Status, firstLine(answer))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer ended early: %w", plain(err))
	case int64(len(body)) > most:
		return nil, ErrTooLarge
	}
	return body, nil
}

// firstLine is what the server said about an answer that is none, in short.
func firstLine(answer *http.Response) string {
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if line == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", line)
}

// plain is an error of the network in short words; the address is said once by
// whoever asked.
func plain(err error) error {
	var dial *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no answer in time")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nobody listens there")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection was closed")
	case errors.As(err, &dial):
		return dial
	}
	var address *url.Error
	if errors.As(err, &address) {
		return address.Err
	}
	return err
}
