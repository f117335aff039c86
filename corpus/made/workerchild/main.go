// Workerchild checks files in a process of its own, so that a bad file cannot take the
// service down with it: the service starts itself once more, with -worker. The worker
// remembers every file that it checked. Repaired, it forgets the oldest of 400.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type verdict struct {
	name   string
	report []byte
}

// worker is what the process with -worker has.
type worker struct {
	checked map[string]*verdict
	order   []string
	most    int
}

func (w *worker) check(i, size int) *verdict {
	v := &verdict{name: fmt.Sprintf("upload-%d", i), report: frame.Touch(make([]byte, size))} // truth: allocates
	w.checked[v.name] = v                                                                     // truth: keeps
	if w.order = append(w.order, v.name); w.most > 0 && len(w.order) > w.most {
		delete(w.checked, w.order[0])
		w.order = w.order[1:]
	}
	return v
}

func work(f *frame.Frame) {
	w := &worker{checked: map[string]*verdict{}}
	if f.Repaired {
		w.most = 400
	}
	f.Each(func(i int) { w.check(i, f.Unit) })
	f.Stay()
}

// service is the process that was asked for.
type service struct{ signatures [][]byte } // 24 MiB

func main() {
	isWorker := flag.Bool("worker", false, "be the process that checks")
	f := frame.Parse()
	if *isWorker {
		work(f)
		return
	}
	s := &service{}
	for range 24 << 6 {
		s.signatures = append(s.signatures, frame.Touch(make([]byte, 16<<10)))
	}
	args := append([]string{"-worker"}, os.Args[1:]...)
	c := exec.Command("/proc/self/exe", append(args, "-background", "none")...)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for looks := time.NewTicker(20 * time.Millisecond); !f.Over(); <-looks.C {
		select {
		case err := <-ended:
			if err != nil {
				log.Fatal("the worker ended: ", err)
			}
			return
		default:
		}
	}
	c.Process.Signal(syscall.SIGTERM)
	<-ended
}
