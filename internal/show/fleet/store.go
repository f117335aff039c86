package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

// Store keeps rows and answers questions. Its methods may be called at the same time.
type Store interface {
	// Init makes the tables that are not there. It changes none that is: what differs is
	// an error.
	Init(ctx context.Context) error
	// Statements are those that Init runs where nothing is yet.
	Statements() []string
	// Put writes rows of one table, as Encode makes them, all or none of them. The same
	// rows may be written again, whenever: they are there once.
	Put(ctx context.Context, t *Table, rows []byte) error
	// Check says whether this user may write rows, by writing none, and by how much the
	// store's clock is ahead of ours, to a second or two; 0 where it has none of its own.
	Check(ctx context.Context) (ahead time.Duration, err error)
	// ask gives the rows of a query (query.go), as Encode would make them of the row.
	ask(ctx context.Context, q query, row reflect.Type) ([]byte, error)
	Close() error
}

// ErrRefused is that a store has read rows or a question and will never take them: to
// send them again is of no use.
var ErrRefused = errors.New("the store refuses it")

// Credentials are what a ClickHouse server wants to know of its user. They are in no
// flag and no message.
type Credentials struct {
	User, Password string
	Bearer         string // instead of both
}

// Options of Open.
type Options struct {
	Credentials Credentials
	// Renew reads the credentials again, where a server does not accept them; nil: they stay.
	Renew func() (Credentials, error)
	// Insecure allows plain HTTP to another machine.
	Insecure bool
	// CA is a file with certificates to trust instead of the system's, "" for none.
	CA string
	// Client certificate and its key, files, "" for none.
	Cert, Key string
	// Plain makes tables that every version of ClickHouse knows: without codecs and
	// without an end of rows' lives.
	Plain bool
	// Cluster is the cluster of ClickHouse on which tables are made, "" for one server.
	Cluster string
}

// ErrStoreURL is that an address names no store.
var ErrStoreURL = errors.New("a store is file:///DIRECTORY, or https://HOST:8443/DATABASE of a ClickHouse server")

// Open opens the store of an address: file:///DIRECTORY, which is SQLite for one machine,
// or http://HOST:PORT/DATABASE or https:// of a ClickHouse server. Nothing is asked of a
// server yet.
func Open(address string, o Options) (Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, ErrStoreURL
	}
	if u.User != nil {
		return nil, errors.New("a store's address has no user and no password: they would be seen by everybody who lists processes; they are read from a file")
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || !filepath.IsAbs(u.Path) {
			return nil, ErrStoreURL
		}
		return openSQLite(u.Path)
	case "http", "https":
		if u.Host == "" {
			return nil, ErrStoreURL
		}
		if u.Scheme == "http" && !o.Insecure && !loopback(u.Hostname()) {
			return nil, fmt.Errorf("http:// to %s would send everything unencrypted", u.Hostname())
		}
		return newClickHouse(u, o)
	}
	return nil, ErrStoreURL
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// query is SQL that both stores know, with {table} for a table whose rows count once, and
// values by their names, {since:DateTime}. No value is ever a part of the text.
type query struct {
	text   string
	values map[string]any // string, ID, time.Time, uint32, uint64
}

// parts calls text with what stands between braces' pairs and brace with what is in them.
func (q query) parts(text func(string), brace func(name, kind string) error) error {
	rest := q.text
	for {
		before, after, found := strings.Cut(rest, "{")
		text(before)
		if !found {
			return nil
		}
		inner, more, found := strings.Cut(after, "}")
		if !found {
			return fmt.Errorf("a query has a brace without an end: %q", q.text)
		}
		name, kind, _ := strings.Cut(inner, ":")
		if err := brace(name, kind); err != nil {
			return err
		}
		rest = more
	}
}

// value is the value of a name, of the kind that the query says.
func (q query) value(name, kind string) (any, error) {
	v, ok := q.values[name]
	if !ok {
		return nil, fmt.Errorf("a query asks for %s, which has no value", name)
	}
	has := ""
	switch v.(type) {
	case string:
		has = "String"
	case ID:
		has = "FixedString"
	case time.Time:
		has = "DateTime"
	case uint32:
		has = "UInt32"
	case uint64:
		has = "UInt64"
	}
	if has != kind {
		return nil, fmt.Errorf("a query asks for %s as %s; it is a %T", name, kind, v)
	}
	return v, nil
}

// ask gives a query's rows.
func ask[T any](ctx context.Context, s Store, text string, values map[string]any) ([]T, error) {
	b, err := s.ask(ctx, query{text, values}, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return Decode[T](b)
}
