package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/highwater-go/highwater/cases/internal/truthfile"
	"github.com/highwater-go/highwater/cases/raftcache/client"
	"github.com/highwater-go/highwater/cases/raftcache/cluster"
)

// TestMain is a node, too: the clusters of these tests run this binary.
func TestMain(m *testing.M) {
	if os.Getenv("RAFTCACHE_NODE") != "" {
		main()
		return
	}
	logging.Disable() // nodes are killed here
	os.Exit(m.Run())
}

// nodes starts a cluster, and a client of it, with a fault or none.
func nodes(t *testing.T, n int, fault string) (*cluster.Cluster, *client.Client) {
	t.Helper()
	c, err := cluster.Start(cluster.Options{Program: os.Args[0], Nodes: n, Dir: t.TempDir(),
		Args: []string{"-fault", fault, "-sync=false"}, Env: []string{"RAFTCACHE_NODE=1"}})
	if err != nil {
		t.Fatal(err)
	}
	one := client.New(c.Clients...)
	t.Cleanup(func() {
		one.Close()
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c, one
}

// everyFault runs a test on the repaired program and on it with each fault.
func everyFault(t *testing.T, test func(t *testing.T, fault string)) {
	for _, name := range append([]string{"none"}, known...) {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

// minute is a context for everything a test waits for.
func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestThreeNodesAnswerAsOne(t *testing.T) {
	everyFault(t, func(t *testing.T, fault string) {
		_, c := nodes(t, 3, fault)
		ctx := minute(t)
		for _, step := range []struct {
			line string
			want string
		}{
			{"SET k v", "OK"}, {"GET k", "v"}, {"SETEX s 100 v", "OK"}, {"TTL s", "100"}, {"DEL k s x", "2"}, {"GET k", "redis: nil"},
			{"ZINCRBY r 2 ann", "2"}, {"ZINCRBY r 5 bob", "5"}, {"ZREVRANGE r 0 -1 WITHSCORES", "[bob 5 ann 2]"},
			{"HIT h", "1"}, {"HITS h 3600", "1"}, {"NONSENSE", "ERR unknown command 'NONSENSE'"}, {"SETEX s 0 v", "ERR invalid expire time"},
		} {
			var args []any
			for word := range strings.FieldsSeq(step.line) {
				args = append(args, word)
			}
			got, err := c.Do(ctx, args...)
			if err != nil {
				got = err
			}
			if text := fmt.Sprint(got); text != step.want {
				t.Errorf("%s: %s, want %s", step.line, text, step.want)
			}
		}
	})
}

func TestTheOthersNameTheLeader(t *testing.T) {
	c, one := nodes(t, 3, "none")
	ctx := minute(t)
	if _, err := one.Do(ctx, "SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	leader := leaderOf(ctx, t, c)
	others := 0
	for i, address := range c.Clients {
		r := redis.NewClient(&redis.Options{Addr: address, Protocol: 2, MaxRetries: -1})
		err := r.Set(ctx, "k", "w", 0).Err()
		r.Close()
		if i == leader && err != nil {
			t.Errorf("the leader: %v", err)
		}
		if i != leader && err != nil && err.Error() == "LEADER "+c.Clients[leader] {
			others++
		}
	}
	if others != 2 {
		t.Errorf("%d others name the leader, want 2", others)
	}
}

// leaderOf asks the nodes until one is the leader and all agree.
func leaderOf(ctx context.Context, t *testing.T, c *cluster.Cluster) int {
	t.Helper()
	return agree(ctx, t, c, "LEADER", func(answers []string) int {
		for i, address := range c.Clients {
			if answers[0] == address && strings.Count(strings.Join(answers, "\n")+"\n", address+"\n") == len(answers) {
				return i
			}
		}
		return -1
	})
}

// agree asks every node one word, again and again, until what is not negative.
func agree(ctx context.Context, t *testing.T, c *cluster.Cluster, word string, what func(answers []string) int) int {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var answers []string
		for _, address := range c.Clients {
			r := redis.NewClient(&redis.Options{Addr: address, Protocol: 2, MaxRetries: -1})
			v, err := r.Do(ctx, word).Result()
			r.Close()
			answers = append(answers, fmt.Sprint(v, err))
			if err == nil {
				answers[len(answers)-1] = fmt.Sprint(v)
			}
		}
		if n := what(answers); n >= 0 {
			return n
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %q", word, answers)
		case <-tick.C:
		}
	}
}

// The leader is killed while clients write, started again, and what it missed
// reaches it.
func TestAKilledLeaderLosesNothing(t *testing.T) {
	everyFault(t, func(t *testing.T, fault string) {
		c, one := nodes(t, 3, fault)
		ctx := minute(t)
		if _, err := one.Do(ctx, "SET", "k", "v"); err != nil {
			t.Fatal(err)
		}
		leader := leaderOf(ctx, t, c)

		const workers, keys = 8, 300
		var acknowledged atomic.Int64
		quarter, killed := make(chan struct{}), make(chan struct{})
		var writing sync.WaitGroup
		for w := range workers {
			writing.Go(func() {
				for k := range keys {
					if k == keys/2 {
						<-killed // the other half is written without it
					}
					if _, err := one.Do(ctx, "SET", fmt.Sprintf("k-%d-%d", w, k), fmt.Sprint(k)); err != nil {
						t.Errorf("SET: %v", err)
						return
					}
					if acknowledged.Add(1) == workers*keys/4 {
						close(quarter)
					}
				}
			})
		}
		select {
		case <-quarter:
		case <-ctx.Done():
			t.Fatal("no writes")
		}
		if err := c.Kill(leader); err != nil {
			t.Fatal(err)
		}
		close(killed)
		writing.Wait()

		for w := range workers {
			for k := range keys {
				if got, err := one.Do(ctx, "GET", fmt.Sprintf("k-%d-%d", w, k)); err != nil || got != fmt.Sprint(k) {
					t.Fatalf("k-%d-%d: %v, %v", w, k, got, err)
				}
			}
		}
		if err := c.Run(leader); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(workers*keys + 1)
		agree(ctx, t, c, "DBSIZE", func(answers []string) int {
			for _, a := range answers {
				if a != want {
					return -1
				}
			}
			return 0
		})
	})
}

func TestWithoutAMajorityNothingIsAcknowledged(t *testing.T) {
	c, one := nodes(t, 3, "none")
	ctx := minute(t)
	if _, err := one.Do(ctx, "SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	leader := leaderOf(ctx, t, c)
	for _, i := range []int{(leader + 1) % 3, (leader + 2) % 3} {
		if err := c.Kill(i); err != nil {
			t.Fatal(err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if got, err := one.Do(short, "SET", "k", "lost"); err == nil {
		t.Errorf("acknowledged by one of three: %v", got)
	}
}

func TestWhatIsNoCommandEndsTheConnection(t *testing.T) {
	c, _ := nodes(t, 1, "none")
	for in, want := range map[string]string{
		"GET k\r\n":                  "-ERR protocol error",
		"*1\r\n$99999999\r\n":        "-ERR protocol error",
		"*1\r\n$4\r\nPING\r\n*0\r\n": "+PONG\r\n-ERR protocol error",
		"*2\r\n$3\r\nGET\r\n$1":      "", // cut
		"*1\r\n$5\r\nA\r\nB\n\r\n":   "-ERR unknown command 'A  B ",
		strings.Repeat("*1", 40_000): "-ERR protocol error",
		"*1\r\n$4\r\nping\r\n":       "+PONG\r\n",
	} {
		conn, err := dial(minute(t), c.Clients[0])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, in)
		conn.CloseWrite()
		answer, err := io.ReadAll(conn)
		conn.Close()
		if err != nil && len(answer) == 0 || !strings.HasPrefix(string(answer), want) || want == "" && len(answer) > 0 {
			t.Errorf("%.30q: %q, %v; want %q", in, answer, err, want)
		}
	}
}

// dial waits until the node listens.
func dial(ctx context.Context, address string) (*net.TCPConn, error) {
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn.(*net.TCPConn), nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestTheTruthMatchesTheSource(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		if err := truthfile.Relocate("."); err != nil {
			t.Fatal(err)
		}
	}
	if err := truthfile.Check(".", known...); err != nil {
		t.Error(err)
	}
}
