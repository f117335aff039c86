package watch

import (
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// GoProcess is a process with a Go runtime, found as a watch finds it: in its
// executable or, of a program in another language, in the first library built by Go
// that it has loaded.
type GoProcess struct {
	Program sample.Program
	Binary  *gobin.Binary // what holds the runtime
	Bias    uint64        // how far above its link-time addresses that is loaded
	Memory  *procfs.Memory
	Library string   // the name of that library; "": the executable holds it
	Others  []string // libraries with Go runtimes beside that one, which are not read
}

// OpenGo finds the Go runtime of a process; gomem.Attach reads it. The error is
// procfs.ErrGone where there is no such process, fs.ErrPermission where it may not be
// read, gobin.ErrNotGo where it has no Go runtime, or that of gobin's Supported. The
// caller closes it.
func OpenGo(root string, pid int) (*GoProcess, error) {
	var m procfs.Mapper
	p, err := openProcess(&m, root, pid)
	if err != nil {
		return nil, err
	}
	if !isNotReady(p.attachErr) {
		p.close()
		return nil, p.attachErr
	}
	p.watcher.Close()
	g := &GoProcess{Program: p.program, Binary: p.bin, Bias: p.bias, Memory: p.mem, Library: p.library}
	for _, other := range p.otherRuntimes(&m, p.readTID) {
		g.Others = append(g.Others, other.name)
		other.bin.Close()
	}
	return g, nil
}

// Close lets go of the process.
func (g *GoProcess) Close() error {
	g.Binary.Close()
	return g.Memory.Close()
}
