// Unanswered is memory that never comes: a file of a FUSE file system whose reads are
// not answered, and a program that maps it.
//
//	unanswered serve DIR FILE  DIR/file is FILE; reads are answered until a line comes
//	unanswered buckets FILE    maps a file where a watcher reads its heap profile's table
//
// The first mounts DIR, which needs root. Both say "ready", and end with their input.
package main

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The kernel's requests (include/uapi/linux/fuse.h).
const (
	lookup  = 1
	forget  = 2
	getattr = 3
	open    = 14
	read    = 15
	initial = 26
	batch   = 42 // forget several

	asyncRead = 1 // of FUSE_INIT, as every server has it
)

// server is a file system with one file.
type server struct {
	fd     int
	data   []byte
	silent atomic.Bool
}

func main() {
	runtime.MemProfileRate = 512 << 10 // linked, and so switched on
	runtime.MemProfile(nil, false)
	s := &server{}
	if os.Args[1] == "buckets" {
		misplace(os.Args[2])
	} else {
		s.begin(os.Args[2], os.Args[3])
	}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		s.silent.Store(true)
		fmt.Println("silent")
	}
}

// begin mounts.
func (s *server) begin(dir, file string) {
	s.data = must(os.ReadFile(file))
	s.fd = must(syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0))
	check(syscall.Mount("unanswered", dir, "fuse", syscall.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", s.fd)))
	go s.serve()
}

// misplace points runtime.mbuckets, which a collection would read, to the file.
func misplace(path string) {
	debug.SetGCPercent(-1)
	f := must(os.Open(path))
	page := must(syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE))
	exe := must(elf.Open("/proc/self/exe"))
	for _, symbol := range must(exe.Symbols()) {
		if symbol.Name == "runtime.mbuckets" {
			variable := (*uintptr)(nil)
			*(*uint64)(unsafe.Pointer(&variable)) = symbol.Value
			*variable = uintptr(unsafe.Pointer(&page[0]))
			return
		}
	}
	panic("runtime.mbuckets is not there")
}

func (s *server) serve() {
	buf := make([]byte, 1<<20)
	for {
		n, err := syscall.Read(s.fd, buf)
		if err == syscall.EINTR || err == syscall.ENOENT {
			continue
		}
		if err != nil {
			return // it was unmounted
		}
		s.answer(buf[:n])
	}
}

// answer answers one request.
func (s *server) answer(b []byte) {
	op, id := binary.NativeEndian.Uint32(b[4:]), b[8:16]
	body := b[40:]
	switch op {
	case forget, batch:
	case initial:
		s.reply(id, 0, uint32(7), uint32(31), uint32(64<<10), uint32(asyncRead), uint16(8), uint16(8), uint32(64<<10), uint32(1), [9]uint32{})
	case lookup:
		if name, _, _ := bytes.Cut(body, []byte{0}); string(name) != "file" {
			s.reply(id, syscall.ENOENT)
			return
		}
		s.reply(id, 0, uint64(2), uint64(0), uint64(3600), uint64(3600), uint64(0), s.attributes(2))
	case getattr:
		s.reply(id, 0, uint64(3600), uint64(0), s.attributes(binary.NativeEndian.Uint64(b[16:])))
	case open:
		const keepCache = 2 // what was read stays, so that a program that ran once runs again
		s.reply(id, 0, uint64(1), uint32(keepCache), uint32(0))
	case read:
		if s.silent.Load() {
			return
		}
		from := min(int(binary.NativeEndian.Uint64(body[8:])), len(s.data))
		to := min(from+int(binary.NativeEndian.Uint32(body[16:])), len(s.data))
		s.reply(id, 0, s.data[from:to])
	default:
		s.reply(id, syscall.ENOSYS)
	}
}

// attributes are struct fuse_attr of the directory, 1, or the file.
func (s *server) attributes(node uint64) []any {
	size, mode := uint64(len(s.data)), uint32(syscall.S_IFREG|0o755)
	if node == 1 {
		size, mode = 0, syscall.S_IFDIR|0o755
	}
	return []any{node, size, (size + 511) / 512, [3]uint64{}, [3]uint32{}, mode, uint32(1), [3]uint32{}, uint32(4096), uint32(0)}
}

// reply writes a header and what follows it.
func (s *server) reply(id []byte, errno syscall.Errno, parts ...any) {
	var body bytes.Buffer
	put(&body, parts)
	var out bytes.Buffer
	put(&out, []any{uint32(16 + body.Len()), -int32(errno), id})
	out.Write(body.Bytes())
	_, _ = syscall.Write(s.fd, out.Bytes()) // the asker may be gone
}

func put(out *bytes.Buffer, parts []any) {
	for _, p := range parts {
		if more, ok := p.([]any); ok {
			put(out, more)
			continue
		}
		check(binary.Write(out, binary.NativeEndian, p))
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
