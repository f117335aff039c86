package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// child is a process that a sync started. It ends when its standard input does,
// even if the sync is killed and can't say so.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
}

type children []child

// startMissing starts what the flags name no address of, and notes the addresses.
func (o *options) startMissing(ctx context.Context) (started children, err error) {
	for _, end := range []struct {
		role    string
		address *string
	}{{"store", &o.store}, {"source", &o.source}, {"destination", &o.destination}} {
		if *end.address != "" || end.role == "store" && o.destination != "" {
			continue
		}
		c, address, err := o.start(ctx, end.role)
		if err != nil {
			return started, fmt.Errorf("start the %s: %w", end.role, err)
		}
		started = append(started, c)
		*end.address = address
	}
	return started, nil
}

// start starts this program in another role, and returns where it listens.
func (o *options) start(ctx context.Context, role string) (child, string, error) {
	self, err := os.Executable()
	if err != nil {
		return child{}, "", err
	}
	cmd := exec.CommandContext(ctx, self, "-child", "-fault", o.fault.String(), "-store", o.store,
		"-tables", strconv.Itoa(o.tables), "-pages", strconv.Itoa(o.pages), "-page", strconv.Itoa(o.pageRows), "-delay", o.delay.String(), role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return child{}, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return child{}, "", err
	}
	if err := cmd.Start(); err != nil {
		return child{}, "", err
	}
	c := child{cmd, in}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), listening)
	if err != nil || !ok {
		return child{}, "", errors.Join(fmt.Errorf("it says %q: %w", line, err), c.stop())
	}
	return c, address, nil
}

func (c child) stop() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }

// stop ends the children, the last first, and waits for each.
func (cs children) stop() {
	for i := len(cs) - 1; i >= 0; i-- {
		cs[i].stop()
	}
}

// withParent is ctx until standard input ends.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return ctx, stop
}
