// Load logs in to a sessions server, at a fixed rate, until a number of logins or a time is reached. It
// talks to loopback only. Its code is 1 if the server went away.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "the server, on loopback")
	rate := flag.Int("rate", 400, "logins a second")
	lasts := flag.Duration("for", 3*time.Minute, "at most how long")
	most := flag.Int("logins", 10_000, "end after so many; 0: when the time is over")
	flag.Parse()
	log.SetFlags(log.Ltime)
	if err := run(*address, *rate, *most, *lasts); err != nil {
		log.Fatal(err)
	}
}

func run(address string, rate, most int, lasts time.Duration) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not on loopback", address)
	}
	if rate < 1 || rate > 5000 {
		return fmt.Errorf("a rate of %d is not between 1 and 5000", rate)
	}
	if err := wait("http://"+address+"/healthz", 10*time.Second); err != nil {
		return err
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	logins := 0
	for end := time.Now().Add(lasts); time.Now().Before(end) && (most == 0 || logins < most); <-tick.C {
		answer, err := http.Get("http://" + address + "/login")
		if err != nil {
			return err
		}
		answer.Body.Close()
		logins++
	}
	log.Printf("%d logins", logins)
	return nil
}

// wait tries until the server answers.
func wait(url string, atMost time.Duration) error {
	for end := time.Now().Add(atMost); ; time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get(url)
		if err == nil {
			return answer.Body.Close()
		}
		if time.Now().After(end) {
			return err
		}
	}
}
