package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// builder builds each program once a way.
type builder struct {
	dir  string // where the programs are put
	from string // the folder corpus; "": this one
	mu   sync.Mutex
	// built is by file, so that two runs of one program build it once.
	built map[string]string
}

func (r *run) folder() string {
	if r.family.program != "" {
		return r.family.program
	}
	return r.family.name
}

// build gives r's program and the sum of its bytes.
func (b *builder) build(ctx context.Context, r *run) (file, sum string, err error) {
	way, args := "go"+strings.TrimPrefix(r.Toolchain, "go"), []string{"build", "-trimpath", "-buildvcs=false"}
	if r.Stripped {
		way, args = way+"-stripped", append(args, "-ldflags=-s -w")
	}
	file = filepath.Join(b.dir, way, r.folder())
	b.mu.Lock()
	defer b.mu.Unlock()
	if sum, ok := b.built[file]; ok {
		return file, sum, nil
	}
	c := exec.CommandContext(ctx, "go", append(args, "-o", file, "./made/"+r.folder())...)
	c.Dir = b.from
	if r.Toolchain != "" {
		c.Env = append(os.Environ(), "GOTOOLCHAIN="+r.Toolchain)
	}
	if out, err := c.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("build %s: %w\n%s", r.folder(), err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	if b.built == nil {
		b.built = map[string]string{}
	}
	b.built[file] = fmt.Sprintf("%x", sha256.Sum256(text))
	return file, b.built[file], nil
}
