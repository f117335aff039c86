// Mutations breaks a copy of the tree on purpose, one row, class, column or flag at a time, and
// wants the named test to fail for each:
//
//	go run -C tools ./mutations [-only WORD]
//
// The copy is of what is committed. Each test has to pass before anything is broken; a copy that does
// not compile shows nothing and is an error. `make mutations` runs it, in about three minutes.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	only := flag.String("only", "", "only mutations with this `word` in their name")
	flag.Parse()
	missed, err := run("..", *only)
	if err != nil {
		log.Fatal("mutations: ", err)
	}
	if len(missed) > 0 {
		log.Fatalf("mutations: nothing noticed %s", strings.Join(missed, "; "))
	}
}

func run(root, only string) (missed []string, err error) {
	dir, err := os.MkdirTemp("", "mutations-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	copy := exec.Command("sh", "-c", `git archive HEAD | tar -x -C "$0"`, dir)
	copy.Dir = root
	if out, err := copy.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("copy the tree: %w\n%s", err, out)
	}
	healthy := map[string]bool{}
	for _, m := range table {
		if !strings.Contains(m.name, only) {
			continue
		}
		if id := m.pkg + " " + m.test; !healthy[id] {
			if out, ok := m.passes(dir); !ok {
				return nil, fmt.Errorf("%s %s does not pass before anything is broken:\n%s", m.pkg, m.test, out)
			}
			healthy[id] = true
		}
		noticed, err := m.isNoticed(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Printf("%-5v %s: %s %s\n", noticed, m.name, m.pkg, m.test)
		if !noticed {
			missed = append(missed, m.name)
		}
	}
	return missed, nil
}

// passes runs the test in the copy.
func (m mutation) passes(dir string) (out []byte, ok bool) {
	pattern := "^" + strings.ReplaceAll(m.test, "/", "$/^") + "$"
	c := exec.Command("go", "test", "-count=1", "-run", pattern, "./"+m.pkg)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return out, err == nil && bytes.Contains(out, []byte("ok  \t")) && !bytes.Contains(out, []byte("no tests to run"))
}

// isNoticed breaks the copy, runs the test, and mends the copy.
func (m mutation) isNoticed(dir string) (bool, error) {
	path := filepath.Join(dir, m.file)
	whole, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if n := strings.Count(string(whole), m.old); n != 1 {
		return false, fmt.Errorf("%s has %q %d times: the table of mutations is out of date", m.file, m.old, n)
	}
	defer os.WriteFile(path, whole, 0o644)
	if err := os.WriteFile(path, []byte(strings.Replace(string(whole), m.old, m.new, 1)), 0o644); err != nil {
		return false, err
	}
	out, ok := m.passes(dir)
	if !ok && !bytes.Contains(out, []byte("--- FAIL: "+strings.SplitN(m.test, "/", 2)[0])) {
		return false, fmt.Errorf("the test did not run:\n%s", out)
	}
	return !ok, nil
}
