// Package cluster runs raftcache nodes as processes on loopback, for tests and
// for measuring.
package cluster

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Cluster is nodes n1, n2, ... of one program.
type Cluster struct {
	Clients []string // the address of each node for clients
	options Options
	peers   string
	nodes   []*exec.Cmd // nil: not running
}

// Options say how the nodes are run.
type Options struct {
	Program string
	Nodes   int
	Dir     string   // holds each node's data and log
	Args    []string // for every node
	Env     []string // beside this process's own
}

// Start starts all nodes. The caller stops them.
func Start(o Options) (*Cluster, error) {
	c := &Cluster{options: o, nodes: make([]*exec.Cmd, o.Nodes)}
	addresses, err := free(2 * o.Nodes)
	if err != nil {
		return nil, err
	}
	c.Clients = addresses[:o.Nodes]
	c.peers = Peers(addresses[o.Nodes:], c.Clients)
	for i := range o.Nodes {
		if err := c.Run(i); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
	}
	return c, nil
}

// Peers is the value of the nodes' flag -peers.
func Peers(raft, clients []string) string {
	var all []string
	for i := range raft {
		all = append(all, fmt.Sprintf("n%d=%s=%s", i+1, raft[i], clients[i]))
	}
	return strings.Join(all, ",")
}

// Run starts node i, with the data it had when it ended.
func (c *Cluster) Run(i int) error {
	id := fmt.Sprintf("n%d", i+1)
	out, err := os.OpenFile(filepath.Join(c.options.Dir, id+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close() // the process has its own
	args := append([]string{"-id", id, "-peers", c.peers, "-data", filepath.Join(c.options.Dir, id)}, c.options.Args...)
	node := exec.Command(c.options.Program, args...)
	node.Stdout, node.Stderr = out, out
	node.Env = append(os.Environ(), c.options.Env...)
	if err := node.Start(); err != nil {
		return err
	}
	c.nodes[i] = node
	return nil
}

// Kill kills node i as the kernel does when memory is short.
func (c *Cluster) Kill(i int) error {
	defer func() { c.nodes[i] = nil }()
	if err := c.nodes[i].Process.Kill(); err != nil {
		return err
	}
	c.nodes[i].Wait() // its status says that it was killed
	return nil
}

// Stop ends all nodes, and says which did not end well.
func (c *Cluster) Stop() error {
	var failed []error
	for _, n := range c.nodes {
		if n != nil {
			n.Process.Signal(syscall.SIGTERM)
		}
	}
	for i, n := range c.nodes {
		if n == nil {
			continue
		}
		if err := n.Wait(); err != nil {
			log, _ := os.ReadFile(filepath.Join(c.options.Dir, fmt.Sprintf("n%d.log", i+1)))
			failed = append(failed, fmt.Errorf("node n%d: %w\n%s", i+1, err, log))
		}
	}
	clear(c.nodes)
	return errors.Join(failed...)
}

// free finds n loopback addresses that nobody listens on.
func free(n int) ([]string, error) {
	var all []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // after all were found, so that they differ
		all = append(all, l.Addr().String())
	}
	return all, nil
}
