package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// clickHouse is a server of ClickHouse, by its HTTP interface:
// https://clickhouse.com/docs/interfaces/http
type clickHouse struct {
	base     url.URL // of the server
	database string
	options  Options
	client   *http.Client
	user     atomic.Pointer[Credentials]
	ahead    atomic.Int64 // nanoseconds that the server's clock was ahead at the last answer
}

// Bounds of one answer: what a question may bring, and what of an error is shown.
const (
	mostAnswer  = 256 << 20
	mostSaid    = 64 << 10 // of an answer without rows
	mostError   = 300
	answerIn    = 60 * time.Second
	defaultBase = "default"
)

func newClickHouse(u *url.URL, o Options) (*clickHouse, error) {
	c := &clickHouse{base: url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}, database: strings.Trim(u.Path, "/"), options: o}
	if c.database == "" {
		c.database = defaultBase
	}
	if !isName(c.database) {
		return nil, fmt.Errorf("%q cannot be a database's name: letters, digits and _", c.database)
	}
	if o.Cluster != "" && !isName(o.Cluster) {
		return nil, fmt.Errorf("%q cannot be a cluster's name: letters, digits and _", o.Cluster)
	}
	c.user.Store(&o.Credentials)
	t, err := transport(o)
	if err != nil {
		return nil, err
	}
	c.client = &http.Client{Transport: t, Timeout: answerIn, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

// isName says that a name needs no quotes in SQL.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// transport trusts and shows what the options say.
func transport(o Options) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("read the certificates to trust: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", o.CA)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if o.Cert != "" || o.Key != "" {
		cert, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("read the client's certificate: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{cert}
	}
	return t, nil
}

func (c *clickHouse) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

func (c *clickHouse) Init(ctx context.Context) error {
	if err := c.statement(ctx, "", c.createDatabase()); err != nil {
		return err
	}
	for _, t := range Tables() {
		for _, text := range c.create(t) {
			if err := c.statement(ctx, c.database, text); err != nil {
				return fmt.Errorf("make table %s: %w", t.Name, err)
			}
		}
		type name struct{ Name string }
		have, err := ask[name](ctx, c, "SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}",
			map[string]any{"database": c.database, "table": t.Name})
		names := make([]string, len(have))
		for i := range have {
			names[i] = have[i].Name
		}
		if err := cmpColumns(t, names, err); err != nil {
			return err
		}
	}
	return nil
}

func (c *clickHouse) createDatabase() string {
	return "CREATE DATABASE IF NOT EXISTS " + c.database + c.onCluster()
}

func (c *clickHouse) Statements() []string {
	list := []string{c.createDatabase(), "USE " + c.database}
	for _, t := range Tables() {
		list = append(list, c.create(t)...)
	}
	return list
}

func (c *clickHouse) onCluster() string {
	if c.options.Cluster == "" {
		return ""
	}
	return " ON CLUSTER " + c.options.Cluster
}

// create are the statements that make a table. Of several rows of one key the newest counts
// (ReplacingMergeTree), so that what is sent twice is there once. On a cluster the rows of a
// service lie together on one shard, where each of its replicas has them, and the table of
// that name is a view of all shards.
func (c *clickHouse) create(t *Table) []string {
	engine, args, name := "ReplacingMergeTree", "", t.Name
	if v, ok := t.find(func(c column) bool { return c.version }); ok {
		args = v.name
	}
	if c.options.Cluster != "" {
		engine, name = "ReplicatedReplacingMergeTree", t.Name+"_local"
		args = fmt.Sprintf("'/clickhouse/tables/{shard}/%s/%s', '{replica}', %s", c.database, t.Name, args)
	}
	text := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s (%s) ENGINE = %s(%s)", name, c.onCluster(), t.define(clickhouse[:]), engine, args)
	d, byDay := t.find(func(c column) bool { return c.day })
	if byDay {
		text += " PARTITION BY toDate(" + d.name + ")"
	}
	text += " ORDER BY (" + strings.Join(t.key(), ", ") + ")"
	if byDay && !c.options.Plain {
		text += fmt.Sprintf(" TTL %s + INTERVAL %d DAY", d.name, t.keep/day)
	}
	if c.options.Cluster == "" {
		return []string{text}
	}
	all := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s (%s) ENGINE = Distributed(%s, %s, %s, cityHash64(%s))", t.Name, c.onCluster(), t.define(clickhouse[:]),
		c.options.Cluster, c.database, name, t.key()[1])
	return []string{text, all}
}

// statement runs what gives no rows.
func (c *clickHouse) statement(ctx context.Context, database, text string) error {
	b, err := c.post(ctx, request{database: database, body: strings.NewReader(text), most: mostSaid})
	if err == nil && len(bytes.TrimSpace(b)) > 0 && c.options.Cluster == "" { // a cluster says how its hosts did
		err = notClickHouse(b)
	}
	return err
}

func (c *clickHouse) Put(ctx context.Context, t *Table, rows []byte) error {
	if len(rows) == 0 {
		return nil
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // a level that there is
	_, _ = w.Write(rows)                                 // into memory
	_ = w.Close()
	b, err := c.post(ctx, request{database: c.database, inURL: insertInto(t), body: &packed, encoding: "gzip", most: mostSaid})
	if err == nil && len(b) > 0 { // a proxy's page, with 200
		err = notClickHouse(b)
	}
	return err
}

func insertInto(t *Table) string {
	return "INSERT INTO " + t.Name + " (" + strings.Join(t.names(), ", ") + ") FORMAT RowBinary"
}

// Check inserts no row.
func (c *clickHouse) Check(ctx context.Context) (time.Duration, error) {
	b, err := c.post(ctx, request{database: c.database, inURL: insertInto(Processes), body: strings.NewReader(""), most: mostSaid})
	if err == nil && len(b) > 0 {
		err = notClickHouse(b)
	}
	return time.Duration(c.ahead.Load()), err
}

func (c *clickHouse) ask(ctx context.Context, q query, _ reflect.Type) ([]byte, error) {
	var text strings.Builder
	err := q.parts(func(t string) { text.WriteString(t) }, func(name, kind string) error {
		if kind == "" {
			text.WriteString(name + " FINAL")
			return nil
		}
		v, err := q.value(name, kind)
		text.WriteString(literal(v))
		return err
	})
	if err != nil {
		return nil, err
	}
	return c.post(ctx, request{database: c.database, body: strings.NewReader(text.String() + " FORMAT RowBinary"), most: mostAnswer})
}

// literal is a value in SQL. Texts are in hexadecimal digits: there is nothing that would
// have to be escaped, and every version knows unhex.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		return "unhex('" + hex.EncodeToString([]byte(v)) + "')"
	case ID:
		return "toFixedString(unhex('" + hex.EncodeToString(v[:]) + "'), 16)"
	case time.Time:
		return "toDateTime(" + strconv.FormatUint(uint64(seconds(v)), 10) + ")"
	case uint32:
		return strconv.FormatUint(uint64(v), 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	}
	panic(fmt.Sprintf("fleet: a query has a %T", v))
}

// request is what post sends.
type request struct {
	database, inURL string
	body            io.Reader
	encoding        string // of the body
	most            int64  // bytes of the answer
}

// post sends one request. The server answers when it has the whole result, so that no
// answer of status 200 breaks off.
func (c *clickHouse) post(ctx context.Context, q request) ([]byte, error) {
	u := c.base
	params := url.Values{"wait_end_of_query": {"1"}, "insert_distributed_sync": {"1"}} // a shard has it when the server says so
	if q.database != "" {
		params.Set("database", q.database)
	}
	if q.inURL != "" {
		params.Set("query", q.inURL)
	}
	u.RawQuery = params.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), q.body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	if q.encoding != "" {
		r.Header.Set("Content-Encoding", q.encoding)
	}
	c.identify(r)
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("reach the store at %s: %w", c.base.Host, withoutURL(err))
	}
	defer answer.Body.Close()
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		c.ahead.Store(int64(time.Until(at)))
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, q.most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the store's answer: %w", err)
	case answer.StatusCode == http.StatusOK && int64(len(b)) > q.most && q.most == mostAnswer:
		return nil, fmt.Errorf("the store's answer has more than %d MiB: ask of a shorter time", mostAnswer>>20)
	case answer.StatusCode == http.StatusOK:
		return b, nil
	}
	err = c.refusal(answer.StatusCode, b)
	if errors.Is(err, ErrCredentials) {
		c.renew()
	}
	return nil, err
}

func (c *clickHouse) identify(r *http.Request) {
	switch k := *c.user.Load(); {
	case k.Bearer != "":
		r.Header.Set("Authorization", "Bearer "+k.Bearer)
	case k.User != "":
		r.Header.Set("X-ClickHouse-User", k.User)
		r.Header.Set("X-ClickHouse-Key", k.Password)
	}
}

// renew reads the credentials again, for the next request: somebody may have changed them.
func (c *clickHouse) renew() {
	if c.options.Renew == nil {
		return
	}
	if k, err := c.options.Renew(); err == nil {
		c.user.Store(&k)
	}
}

// ErrCredentials is that a store does not know the user, or lets it do nothing.
var ErrCredentials = errors.New("the store does not accept the user or its password")

// Codes of ClickHouse's errors that are of the user and not of the rows, and that say that
// the server has no memory, no time, no room or no such table now (src/Common/ErrorCodes.cpp).
var (
	credentialCodes = []string{"Code: 192,", "Code: 193,", "Code: 194,", "Code: 497,", "Code: 516,", "Code: 192.", "Code: 193.", "Code: 194.", "Code: 497.",
		"Code: 516."}
	passingCodes = []string{"Code: 60,", "Code: 60.", "Code: 81,", "Code: 81.", "Code: 159", "Code: 202", "Code: 203", "Code: 209", "Code: 241", "Code: 242",
		"Code: 243", "Code: 252", "Code: 286", "Code: 319", "Code: 999"}
)

// refusal is what an answer other than 200 means.
func (c *clickHouse) refusal(status int, body []byte) error {
	text := firstLine(body)
	begins := func(list []string) bool {
		for _, code := range list {
			if strings.HasPrefix(text, code) {
				return true
			}
		}
		return false
	}
	err := fmt.Errorf("the store at %s answers %d: %s", c.base.Host, status, text)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || begins(credentialCodes):
		return errors.Join(ErrCredentials, err)
	case begins(passingCodes) || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout:
		return err
	case status >= 400 && status < 500 || strings.HasPrefix(text, "Code: "):
		return errors.Join(ErrRefused, err)
	}
	return err
}

func notClickHouse(body []byte) error {
	return fmt.Errorf("what answers there is no ClickHouse server: %s", firstLine(body))
}

// firstLine is the beginning of an answer, for a message.
func firstLine(b []byte) string {
	text, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), 4*mostError)]), "?")), "\n")
	return text[:min(len(text), mostError)]
}

// withoutURL is an error of a request without its address, which has the query in it.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
