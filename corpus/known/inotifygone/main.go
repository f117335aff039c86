// Inotifygone is an agent that watches the folder of each job of a build machine. A job takes its
// folder away at its end; the agent stops watching then. It keeps the last lines of logs, 25 MiB.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/utils/inotify"
)

type agent struct {
	watcher *inotify.Watcher
	lines   [25_000][]byte
	events  int
}

func newAgent() (*agent, error) {
	w, err := inotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	a := &agent{watcher: w}
	for i := range a.lines {
		a.lines[i] = bytes.Repeat([]byte("l"), 1000)
	}
	return a, nil
}

// drain takes the events until the watcher ends.
func (a *agent) drain() {
	for {
		select {
		case e, open := <-a.watcher.Event:
			if !open {
				return
			}
			a.events++
			copy(a.lines[a.events%len(a.lines)], e.Name)
		case err := <-a.watcher.Error:
			if err != nil {
				log.Print(err)
			}
		}
	}
}

// job is one build: its folder comes and goes.
func (a *agent) job(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	if err := a.watcher.AddWatch(folder, inotify.InCreate|inotify.InDelete); err != nil {
		return err
	}
	if err := os.Remove(folder); err != nil {
		return err
	}
	// The kernel has forgotten a folder that is gone.
	if err := a.watcher.RemoveWatch(folder); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	a, err := newAgent()
	if err != nil {
		log.Fatal(err)
	}
	go a.drain()
	root, err := os.MkdirTemp("", "jobs-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	// As long as the paths of a build machine are.
	work := filepath.Join(root, strings.Repeat(strings.Repeat("workspace-", 20)+"/", 14))
	if err := os.MkdirAll(work, 0o755); err != nil {
		log.Fatal(err)
	}
	end, tick := time.Now().Add(*last), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); {
		<-tick.C
		for range 10 {
			n++
			name := filepath.Join(work, fmt.Sprintf("%s-%09d", strings.Repeat("build-of-a-branch-", 10), n))
			if err := a.job(name); err != nil {
				log.Fatal(err)
			}
		}
	}
}
