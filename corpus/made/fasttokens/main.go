// Fasttokens reads the profiles of users from a partner by valyala/fasthttp, and keeps the
// token of each. To save a copy the token is a part of the response's own bytes, and the
// response is not released: 40 bytes keep the whole body. Repaired, the token is copied,
// the response is released, and the newest 400 are kept.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"net"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const (
	tokenBytes = 40
	keep       = 400
)

type partner struct {
	client   *fasthttp.Client
	tokens   [][]byte
	groups   [][]byte // 13 MiB: who may do what
	repaired bool
}

func main() {
	f := frame.Parse()
	listener := fasthttputil.NewInmemoryListener()
	go serve(listener, f.Unit)
	p := &partner{repaired: f.Repaired}
	p.client = &fasthttp.Client{Dial: func(string) (net.Conn, error) { return listener.Dial() }}
	for range 13 << 20 / (8 << 10) {
		p.groups = append(p.groups, frame.Touch(make([]byte, 8<<10)))
	}
	f.Each(func(i int) {
		if err := p.signIn(i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// serve answers with profiles of size bytes.
func serve(listener net.Listener, size int) {
	profile := append([]byte(`{"token":"0123456789012345678901234567890123456789","groups":[`), bytes.Repeat([]byte(`"readers",`), max(1, (size-80)/10))...)
	handle := func(c *fasthttp.RequestCtx) { c.Response.SetBodyRaw(profile) }
	if err := (&fasthttp.Server{Handler: handle}).Serve(listener); err != nil {
		log.Fatal(err)
	}
}

func (p *partner) signIn(i int) error {
	if len(p.groups[i%len(p.groups)]) == 0 {
		return errors.New("a group without rights")
	}
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	request.SetRequestURI(fmt.Sprintf("http://partner/profile/%d", i))
	if err := p.client.Do(request, response); err != nil { // truth: allocates
		return err
	}
	token, err := find(response.Body())
	if err != nil {
		return fmt.Errorf("user %d: %w", i, err)
	}
	if p.repaired {
		token = bytes.Clone(token)
		fasthttp.ReleaseResponse(response)
		if len(p.tokens) == keep {
			p.tokens = append(p.tokens[:0], p.tokens[keep/2:]...)
		}
	}
	p.tokens = append(p.tokens, token) // truth: keeps
	return nil
}

// find is the token in a profile.
func find(profile []byte) ([]byte, error) {
	_, after, ok := bytes.Cut(profile, []byte(`"token":"`))
	if !ok || len(after) < tokenBytes {
		return nil, errors.New("no token")
	}
	return after[:tokenBytes], nil // truth: keeps
}
