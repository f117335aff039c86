// Package client talks to a raftcache cluster: it finds the leader, and finds
// the next one when that is lost.
//
// A write whose answer was lost is sent again. So every command is done at
// least once: SET and DEL do not mind, ZINCRBY and HIT may count twice.
package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Client is safe for any number of goroutines.
type Client struct {
	addresses []string

	mu      sync.Mutex
	leader  string // the last known
	clients map[string]*redis.Client
	next    int // of the addresses, to ask when no leader is known
}

// New returns a client of the cluster whose nodes answer on the addresses. The
// caller closes it.
func New(addresses ...string) *Client {
	return &Client{addresses: addresses, leader: addresses[0], clients: map[string]*redis.Client{}}
}

// Do sends a command to the leader, until it is answered or ctx ends. The
// answer is as go-redis gives it: string, int64, []any; redis.Nil is an error.
func (c *Client) Do(ctx context.Context, args ...any) (any, error) {
	for {
		address, node := c.node()
		reply, err := node.Do(ctx, args...).Result()
		to, wait, again := c.judge(address, err)
		if !again {
			return reply, err
		}
		c.turn(address, to)
		if !wait {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no leader answered: %w", errors.Join(ctx.Err(), err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// judge says of an error whether to ask again, where, and whether to wait
// before that. An answer of the leader, good or bad, ends it.
func (c *Client) judge(address string, err error) (to string, wait, again bool) {
	var answer redis.Error
	switch {
	case err == nil || errors.Is(err, redis.Nil):
		return "", false, false
	case errors.As(err, &answer):
		if to, ok := strings.CutPrefix(answer.Error(), "LEADER "); ok {
			return to, to == address, true
		}
		return "", true, strings.HasPrefix(answer.Error(), "NOLEADER")
	default:
		return "", true, true // nobody there, or cut off
	}
}

// node is the one to ask now.
func (c *Client) node() (string, *redis.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.clients[c.leader]
	if n == nil {
		n = redis.NewClient(&redis.Options{Addr: c.leader, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
			DialTimeout: time.Second, ReadTimeout: 10 * time.Second, PoolSize: 256})
		c.clients[c.leader] = n
	}
	return c.leader, n
}

// turn leaves a node that was not the leader, for another that it named or for
// the next. Others may have turned already.
func (c *Client) turn(from, to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader != from {
		return
	}
	if to == "" {
		c.next++
		to = c.addresses[c.next%len(c.addresses)]
	}
	c.leader = to
}

// Close closes the connections.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var failed []error
	for _, n := range c.clients {
		failed = append(failed, n.Close())
	}
	return errors.Join(failed...)
}
