// Load uses an uploads server as people would: two uploads one after the other,
// browsing in between, then several uploads at once. It talks to loopback only
// and ends by itself. Its code is 1 if the server went away.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net"
	"net/http"
	"sync"
	"time"
)

// user does what a user does, against one server.
type user struct {
	base  string
	bytes int64 // of one upload
	rate  int64 // bytes a second of one upload
}

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "the server, on loopback")
	size := flag.Int64("mib", 30, "MiB of one upload")
	rate := flag.Int64("rate", 20, "MiB a second of one upload")
	browsing := flag.Duration("browse", time.Second, "time spent on the list after each upload")
	together := flag.Int("together", 8, "uploads at once in the end")
	flag.Parse()
	log.SetFlags(log.Ltime)
	if err := run(*address, user{bytes: *size << 20, rate: *rate << 20}, *browsing, *together); err != nil {
		log.Fatal(err)
	}
}

func run(address string, u user, browsing time.Duration, together int) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not on loopback", address)
	}
	u.base = "http://" + address
	if err := u.wait(10 * time.Second); err != nil {
		return err
	}
	for n := 1; n <= 2; n++ {
		log.Printf("upload %d of %d MiB", n, u.bytes>>20)
		if err := u.upload(n); err != nil {
			return err
		}
		if err := u.browse(browsing); err != nil {
			return err
		}
	}
	log.Printf("%d uploads at once", together)
	if err := u.uploadTogether(together); err != nil {
		return err
	}
	log.Print("all uploads are stored")
	return u.browse(browsing)
}

// wait tries until the server answers.
func (u user) wait(atMost time.Duration) error {
	for end := time.Now().Add(atMost); ; time.Sleep(50 * time.Millisecond) {
		err := u.browse(0)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// browse asks for the list, at least once, until the time is over.
func (u user) browse(lasts time.Duration) error {
	for end := time.Now().Add(lasts); ; {
		resp, err := http.Get(u.base + "/files")
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || time.Now().After(end) {
			return err
		}
	}
}

// uploadTogether makes n uploads at once; its error is the first of theirs.
func (u user) uploadTogether(n int) error {
	var uploads sync.WaitGroup
	failed := make([]error, n)
	for i := range n {
		uploads.Add(1)
		go func() {
			defer uploads.Done()
			failed[i] = u.upload(100 + i)
		}()
	}
	uploads.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// upload sends one file in a multipart form, no faster than the rate.
func (u user) upload(number int) error {
	body, to := io.Pipe()
	form := multipart.NewWriter(to)
	go func() {
		part, err := form.CreateFormFile("file", fmt.Sprintf("holiday-%d.mov", number))
		if err == nil {
			err = u.write(part)
		}
		if err == nil {
			err = form.Close()
		}
		to.CloseWithError(err)
	}()
	resp, err := http.Post(u.base+"/upload", form.FormDataContentType(), body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("upload %d: %s", number, resp.Status)
	}
	return nil
}

// write sends the file in small pieces, as a network would.
func (u user) write(to io.Writer) error {
	piece := make([]byte, 256<<10)
	start := time.Now()
	for sent := int64(0); sent < u.bytes; {
		n, err := to.Write(piece[:min(int64(len(piece)), u.bytes-sent)])
		if err != nil {
			return err
		}
		sent += int64(n)
		due := start.Add(time.Duration(float64(sent) / float64(u.rate) * float64(time.Second)))
		time.Sleep(time.Until(due))
	}
	return nil
}
