package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/cases/raftcache/resp"
)

// server answers clients of one node.
type server struct {
	node *node

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// serve accepts clients until ctx ends, and returns when the last is gone.
func (s *server) serve(ctx context.Context, l net.Listener) error {
	s.conns = map[net.Conn]bool{}
	stop := context.AfterFunc(ctx, func() {
		l.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			c.Close()
		}
	})
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				c.Close()
			}
			return nil
		}
		if err != nil {
			return err
		}
		s.know(c, true)
		clients.Go(func() {
			defer s.know(c, false)
			s.client(ctx, c)
		})
	}
}

func (s *server) know(c net.Conn, here bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if here {
		s.conns[c] = true
	} else {
		delete(s.conns, c)
	}
}

// client answers one connection's commands in turn. Replies are sent when no
// further command waits.
func (s *server) client(ctx context.Context, c net.Conn) {
	defer c.Close()
	r, out := bufio.NewReader(c), []byte(nil)
	for {
		args, err := resp.ReadCommand(r)
		if errors.Is(err, resp.ErrProtocol) {
			c.Write(resp.AppendReply(out, fmt.Errorf("ERR %w", err)))
			return
		}
		if err != nil || ctx.Err() != nil {
			return
		}
		out = resp.AppendReply(out, s.answer(ctx, args))
		if r.Buffered() > 0 && len(out) < 64<<10 {
			continue
		}
		if _, err := c.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

// answer is the reply to one command.
func (s *server) answer(ctx context.Context, args [][]byte) any {
	words := texts(args)
	if reply, ok := s.local(words); ok {
		return reply
	}
	c, err := lookup(words)
	if err != nil {
		return err
	}
	if err := s.node.leading(); err != nil {
		return err
	}
	if c.write {
		return s.node.apply.do(ctx, args)
	}
	return c.do(s.node.state, time.Now().UnixMilli(), words[1:])
}

// local answers what any node knows of itself.
func (s *server) local(words []string) (any, bool) {
	switch strings.ToUpper(words[0]) {
	case "PING":
		return resp.Simple("PONG"), true
	case "DBSIZE": // of this node, which may be behind the leader
		return s.node.state.size(time.Now().UnixMilli()), true
	case "LEADER": // where it is, for clients
		err := s.node.leading()
		if err == nil {
			return s.node.self.clients, true
		}
		if to, ok := strings.CutPrefix(err.Error(), "LEADER "); ok {
			return to, true
		}
		return err, true
	}
	return nil, false
}
