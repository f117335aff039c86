package watch

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/files/elffile"
	"github.com/highwater-go/highwater/internal/files/regular"
)

// images are the files of code that a program has mapped by now.
func (c *codeMap) images() (all []codePart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	for _, p := range c.parts {
		if p.image != nil {
			all = append(all, p)
		}
	}
	return all
}

// libraryDirs are where loaders look for libraries (ld.so(8), and the multiarch directories of Debian).
var libraryDirs = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}

// toBeLoaded are the libraries that a program will have, as far as its executable and its
// environment name them, before its loader has run. One that is not loaded after all is never
// called. The caller closes their images.
func (p *process) toBeLoaded() (all []codePart) {
	const most = 32
	names := append(preloaded(p.root, p.readTID), needed(fmt.Sprintf("%s/%d/exe", p.root, p.readTID))...)
	for _, name := range names[:min(most, len(names))] {
		for _, path := range candidates(name) {
			path = fmt.Sprintf("%s/%d/root%s", p.root, p.readTID, path)
			if image, err := faultprofile.OpenImage(path, filepath.Base(path), 0, 0); err == nil {
				all = append(all, codePart{image: image, path: path})
				break
			}
		}
	}
	return all
}

func candidates(name string) (paths []string) {
	if strings.HasPrefix(name, "/") {
		return []string{name}
	}
	if strings.Contains(name, "/") {
		return nil
	}
	for _, dir := range libraryDirs {
		paths = append(paths, dir+"/"+name)
	}
	return paths
}

// preloaded are the words of LD_PRELOAD.
func preloaded(root string, pid int) []string {
	env, err := os.ReadFile(fmt.Sprintf("%s/%d/environ", root, pid))
	if err != nil {
		return nil
	}
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if list, ok := bytes.CutPrefix(one, []byte("LD_PRELOAD=")); ok {
			return strings.FieldsFunc(string(list), func(r rune) bool { return r == ' ' || r == ':' })
		}
	}
	return nil
}

// needed are the libraries that an executable names.
func needed(path string) []string {
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	e, err := elffile.New(f)
	if err != nil {
		return nil
	}
	const most = 16 << 20 // of what the loader reads
	if d := e.SectionByType(elf.SHT_DYNAMIC); d == nil || d.Size > most || int(d.Link) >= len(e.Sections) || e.Sections[d.Link].Size > most {
		return nil
	}
	names, _ := e.ImportedLibraries() // none: a static one
	return names
}
