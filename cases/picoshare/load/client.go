package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

// client talks to one picoshare, logged in.
type client struct {
	base string
	http *http.Client
}

// file is an uploaded file and what is in it.
type file struct {
	id      string
	content content
}

func login(ctx context.Context, base, secret string) (*client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	c := &client{base: strings.TrimSuffix(base, "/"), http: &http.Client{Jar: jar}}
	form := strings.NewReader(url.Values{"secret": {secret}}.Encode())
	r, err := c.do(ctx, "POST", "/login", form, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	if err != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	return c, r.Body.Close()
}

// upload sends a file as it is made: the load holds none of it.
func (c *client) upload(ctx context.Context, name string, from content) (id string, err error) {
	body, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		part, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = io.Copy(part, from.reader())
		}
		if err == nil {
			err = form.Close()
		}
		w.CloseWithError(err)
	}()
	defer body.Close() // ends the goroutine when the server refuses early
	r, err := c.do(ctx, "POST", "/api/entries", body, http.Header{"Content-Type": {form.FormDataContentType()}})
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	var e struct {
		ID   string
		Size int64
	}
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		return "", err
	}
	if e.Size != from.size {
		return "", fmt.Errorf("%s has %d bytes there, %d were sent", name, e.Size, from.size)
	}
	return e.ID, nil
}

// compare downloads n bytes of a file and holds them against what was sent.
func (c *client) compare(ctx context.Context, f file, from, n int64) error {
	h := http.Header{}
	if n != f.content.size {
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	}
	r, err := c.do(ctx, "GET", "/f/"+f.id, nil, h)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	return f.content.same(r.Body, from, n)
}

// removeAll removes what arrived, also after an interrupt.
func (c *client) removeAll(files []file) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var failed []error
	for _, f := range files {
		if f.id != "" {
			failed = append(failed, c.remove(ctx, f.id))
		}
	}
	return errors.Join(failed...)
}

func (c *client) remove(ctx context.Context, id string) error {
	r, err := c.do(ctx, "DELETE", "/api/entries/"+id, nil, nil)
	if err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	return r.Body.Close()
}

// do sends a request and refuses every answer that is not a success. The caller
// closes the body.
func (c *client) do(ctx context.Context, method, path string, body io.Reader, h http.Header) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range h {
		q.Header[name] = values
	}
	r, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	if r.StatusCode >= 300 {
		defer r.Body.Close()
		why, _ := io.ReadAll(io.LimitReader(r.Body, 200))
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, r.Status, strings.TrimSpace(string(why)))
	}
	return r, nil
}
