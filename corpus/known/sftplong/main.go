// Sftplong keeps small files in memory, 25 MiB, and gives them out over SFTP. Some clients send a
// packet that is far longer than any that the protocol knows.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"github.com/pkg/sftp"
)

type files struct{ content [25][]byte }

func newFiles() *files {
	f := &files{}
	for i := range f.content {
		f.content[i] = bytes.Repeat([]byte{byte(i)}, 1<<20)
	}
	return f
}

func (f *files) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	if len(r.Filepath) != 2 || r.Filepath[1] < 'a' || r.Filepath[1] >= 'a'+25 {
		return nil, os.ErrNotExist
	}
	return bytes.NewReader(f.content[r.Filepath[1]-'a']), nil
}

func (f *files) Filewrite(*sftp.Request) (io.WriterAt, error)  { return nil, os.ErrPermission }
func (f *files) Filecmd(*sftp.Request) error                   { return os.ErrPermission }
func (f *files) Filelist(*sftp.Request) (sftp.ListerAt, error) { return nil, os.ErrPermission }
func (f *files) handlers() sftp.Handlers {
	return sftp.Handlers{FileGet: f, FilePut: f, FileCmd: f, FileList: f}
}

// serve is a session; where there is SSH, conn is its channel.
func (f *files) serve(conn net.Conn) {
	defer conn.Close()
	sftp.NewRequestServer(conn, f.handlers()).Serve()
}

// fetch takes a file.
func fetch(addr, name string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	c, err := sftp.NewClientPipe(conn, conn)
	if err != nil {
		return err
	}
	file, err := c.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(io.Discard, struct{ io.Reader }{file})
	return err
}

// long sends a packet of so many MiB.
func long(addr string, mib int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.Write(binary.BigEndian.AppendUint32(nil, uint32(mib<<20)))
	part := bytes.Repeat([]byte{1}, 1<<20)
	for range mib {
		if _, err := conn.Write(part); err != nil {
			return nil // it was told to go
		}
	}
	return nil
}

// calm is how long nothing bad comes at first.
const calm = 6 * time.Second

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	f := newFiles()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(conn)
		}
	}()
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	repeat := func(one func() error, every time.Duration) {
		for time.Now().Before(end) {
			if err := one(); err != nil {
				log.Print(err)
				return
			}
			time.Sleep(every)
		}
	}
	clients.Go(func() { repeat(func() error { return fetch(l.Addr().String(), "/c") }, 50*time.Millisecond) })
	for i := range 2 {
		clients.Go(func() {
			time.Sleep(calm)
			repeat(func() error { return long(l.Addr().String(), 80) }, time.Duration(700+200*i)*time.Millisecond)
		})
	}
	clients.Wait()
}
