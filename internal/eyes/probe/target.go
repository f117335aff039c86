package probe

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Target is what is asked for, and where.
type Target struct {
	url *url.URL
}

// Parse reads an address:
//
//	http://HOST/PATH, https://...     GET
//	redis://[USER:PASSWORD@]HOST      PING
//	redis://HOST/?set=KEY             SET of that key, which changes the store
//
// rediss is Redis over TLS. The port of Redis is 6379 where none is given.
func Parse(address string) (*Target, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "http", "https":
	case "redis", "rediss":
		if strings.Trim(u.Path, "/") != "" {
			return nil, fmt.Errorf("%q: a database cannot be chosen", u.Path)
		}
		if u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), "6379")
		}
	default:
		return nil, fmt.Errorf("%q is neither http:// nor redis://", address)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("%q names no host", address)
	}
	return &Target{u}, nil
}

// Name is the address without a password and a query, which may hold secrets.
func (t *Target) Name() string {
	u := *t.url
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// What is the request in a word: "GET", "PING" or "SET".
func (t *Target) What() string {
	switch {
	case t.web():
		return "GET"
	case t.key() != "":
		return "SET"
	}
	return "PING"
}

// Here says whether the server is on this machine, so that no network's time is in
// its answers.
func (t *Target) Here() bool {
	host := t.url.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (t *Target) web() bool { return strings.HasPrefix(t.url.Scheme, "http") }

func (t *Target) key() string { return t.url.Query().Get("set") }

func (t *Target) asker() asker {
	if t.web() {
		return newWebAsker(t.url)
	}
	return newRESPAsker(t)
}
