// Natsqueue has a NATS server of a cluster in itself, for workers that subscribe to the one job that
// they do, as a group, and unsubscribe after it. It keeps the jobs that were done, 25 MiB.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

type jobs struct {
	mu   sync.Mutex
	done [50_000]string
	next int
}

func newJobs() *jobs {
	j := &jobs{}
	for i := range j.done {
		j.done[i] = fmt.Sprint(i, strings.Repeat(" done", 100))
	}
	return j
}

func start() (*server.Server, error) {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
		Cluster: server.ClusterOpts{Name: "jobs", Host: "127.0.0.1", Port: -1},
	})
	if err != nil {
		return nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(5 * time.Second) {
		return nil, fmt.Errorf("the server does not start")
	}
	return s, nil
}

// worker does jobs in rounds of 20 that it subscribes to and unsubscribes from.
func (j *jobs) worker(addr string, id int, end time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	fmt.Fprint(conn, "CONNECT {\"verbose\":false}\r\n")
	for n := 0; time.Now().Before(end); {
		var out strings.Builder
		for range 20 {
			n++
			job := fmt.Sprintf("jobs.of-today.worker-%d.number-%d", id, n)
			fmt.Fprintf(&out, "SUB %s group-of-%s %d\r\nUNSUB %d\r\n", job, job, n, n)
			j.mu.Lock()
			j.next = (j.next + 1) % len(j.done)
			j.done[j.next] = j.done[(j.next+1)%len(j.done)]
			j.mu.Unlock()
		}
		out.WriteString("PING\r\n")
		if _, err := conn.Write([]byte(out.String())); err != nil {
			return err
		}
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return err
			}
			if strings.HasPrefix(line, "PONG") {
				break
			}
			if strings.HasPrefix(line, "PING") {
				fmt.Fprint(conn, "PONG\r\n")
			}
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	j := newJobs()
	s, err := start()
	if err != nil {
		log.Fatal(err)
	}
	end := time.Now().Add(*last)
	var workers sync.WaitGroup
	for id := range 3 {
		workers.Go(func() {
			if err := j.worker(s.Addr().String(), id, end); err != nil {
				log.Print(err)
			}
		})
	}
	workers.Wait()
	s.Shutdown()
}
