package hwtest

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// writeInitrd writes the guest's root file system: a gzipped newc archive with
// /init, /job.json and the files.
func (g Guest) writeInitrd(t testing.TB, name string) error {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return err
	}
	err = g.archive(t, &archive{w: z})
	return errors.Join(err, z.Close(), f.Close())
}

func (g Guest) archive(t testing.TB, a *archive) error {
	t.Helper()
	arch := orDefault(g.Arch, "amd64")
	job, err := json.Marshal(Job{
		Cmds: g.Cmds, Fetch: g.Fetch, Port: machines[arch].port, Disk: g.Disk > 0, Systemd: g.Systemd,
		Files: slices.Sorted(maps.Keys(g.Files)),
	})
	if err != nil {
		return err
	}
	files := map[string]string{"/init": Build(t, guestDir(), BuildOptions{Env: []string{"GOARCH=" + arch}})}
	for to, from := range g.Files {
		files[path.Clean("/"+to)] = from
	}
	a.dir("dev")
	a.device("dev/console", 5, 1)
	a.file("job.json", job)
	made := map[string]bool{"/": true, "/dev": true}
	for to, from := range files {
		b, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		a.parents(path.Dir(to), made)
		a.file(strings.TrimPrefix(to, "/"), b)
	}
	return a.close()
}

// guestDir is the folder of the init's source, beside this file.
func guestDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "guest")
}

// archive writes a cpio archive in the format newc, the kernel's for an initrd
// (Documentation/driver-api/early-userspace/buffer-format.rst): a magic, 13
// fields of 8 hex digits, the name, the contents, padded to 4 bytes each.
type archive struct {
	w   io.Writer
	n   int
	ino int
	err error
}

func (a *archive) dir(name string)            { a.entry(name, 0o040755, 2, 0, 0, nil) }
func (a *archive) file(name string, b []byte) { a.entry(name, 0o100755, 1, 0, 0, b) }
func (a *archive) device(name string, major, minor int) {
	a.entry(name, 0o020600, 1, major, minor, nil)
}

// parents makes the directories up to dir that are not there yet.
func (a *archive) parents(dir string, made map[string]bool) {
	var missing []string
	for ; !made[dir]; dir = path.Dir(dir) {
		missing = append(missing, dir)
		made[dir] = true
	}
	for _, dir := range slices.Backward(missing) {
		a.dir(strings.TrimPrefix(dir, "/"))
	}
}

func (a *archive) entry(name string, mode, links, major, minor int, b []byte) {
	a.ino++
	a.printf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.ino, mode, 0, 0, links, 0, len(b), 0, 0, major, minor, len(name)+1, 0, name)
	a.pad()
	a.write(b)
	a.pad()
}

func (a *archive) printf(format string, args ...any) { a.write(fmt.Appendf(nil, format, args...)) }
func (a *archive) pad()                              { a.write(make([]byte, -a.n&3)) }

func (a *archive) write(b []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(b)
		a.n += len(b)
	}
}

func (a *archive) close() error {
	a.ino = -1
	a.entry("TRAILER!!!", 0, 1, 0, 0, nil)
	return a.err
}
