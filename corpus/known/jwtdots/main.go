// Jwtdots is an API whose requests carry a bearer token. Some clients send tokens of dots only.
// It keeps the users' profiles, about 25 MiB.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

type profile struct {
	name  string
	photo []byte
}

type api struct {
	key      []byte
	profiles []profile
}

func newAPI() *api {
	a := &api{key: []byte("a key for signing that nobody knows")}
	for i := range 12_000 {
		a.profiles = append(a.profiles, profile{fmt.Sprintf("user %d", i), bytes.Repeat([]byte{byte(i)}, 2048)})
	}
	return a
}

func (a *api) user(r *http.Request) (*jwt.RegisteredClaims, error) {
	var claims jwt.RegisteredClaims
	text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	_, err := jwt.ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) { return a.key, nil },
		jwt.WithValidMethods([]string{"HS256"}))
	return &claims, err
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	claims, err := a.user(r)
	if err != nil {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	fmt.Fprintln(w, claims.Subject, len(a.profiles))
}

// ask sends the same raw request at intervals until the time is over.
func ask(addr string, request []byte, every time.Duration, end time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for time.Now().Before(end) {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		time.Sleep(every)
	}
	return nil
}

func request(token string) []byte {
	return []byte("GET /me HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer " + token + "\r\n\r\n")
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	a := newAPI()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{Subject: "7"}).SignedString(a.key)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, a)
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	for i := range 8 {
		text, every := strings.Repeat(".", 1_000_000), 150*time.Millisecond
		if i < 2 {
			text, every = token, 2*time.Millisecond
		}
		clients.Go(func() {
			if err := ask(l.Addr().String(), request(text), every, end); err != nil {
				log.Print(err)
			}
		})
	}
	clients.Wait()
}
