package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

func decodeBatch(t *testing.T, from io.Reader) *ir.Batch {
	t.Helper()
	b, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	batch := new(ir.Batch)
	if err := proto.Unmarshal(b, batch); err != nil {
		t.Fatal(err)
	}
	return batch
}

func body(t *testing.T, b *bodies, mediaType, encoding, content string) *ir.Data {
	t.Helper()
	header := http.Header{"Content-Type": {mediaType}, "Content-Encoding": {encoding}}
	d, err := b.read(header, io.NopCloser(strings.NewReader(content)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func gzipped(t *testing.T, content io.Reader) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestABodyIsAValueWhateverItIs(t *testing.T) {
	good := gzipped(t, strings.NewReader(`[1]`))
	for _, c := range []struct {
		name, mediaType, encoding, content, want string
		truncated                                bool
	}{
		{"an object", "application/json", "", `{"a":[1,"x",true,null]}`, `{"a":[1,"x",true,null]}`, false},
		{"gzip", "application/json; charset=utf-8", "gzip", good, `[1]`, false},
		{"nothing", "application/json", "", "", `null`, false},
		{"cut", "application/json", "", `{"a":`, `""`, true},
		{"no JSON", "application/json", "", `{a}`, `""`, true},
		{"cut gzip", "application/json", "gzip", good[:12], `""`, true},
		{"no gzip", "application/json", "gzip", "x", `""`, true},
		{"too deep", "application/json", "", strings.Repeat("[", 200) + strings.Repeat("]", 200), `""`, true},
		{"a huge number", "application/json", "", `1e999`, `""`, true},
		{"text", "text/plain", "", "hello", `"hello"`, false},
		{"no text", "image/png", "", "\xff\xfe", "\"\uFFFD\"", false},
		{"long text", "text/plain", "", strings.Repeat("x", 9000), `"` + strings.Repeat("x", keptText) + `"`, true},
	} {
		for _, readAll := range []bool{false, true} {
			d := body(t, &bodies{readAll: readAll}, c.mediaType, c.encoding, c.content)
			if asText(d) != c.want || d.GetTruncated() != c.truncated {
				t.Errorf("%s: %s, truncated %t, want %s, %t", c.name, asText(d), d.GetTruncated(), c.want, c.truncated)
			}
		}
	}
}

func TestABodyIsReadNoFurtherThanItsLimit(t *testing.T) {
	long := io.MultiReader(strings.NewReader(`["`), io.LimitReader(&repeater{text: "x"}, 2*largestBody), strings.NewReader(`"]`))
	if d := body(t, new(bodies), "application/json", "gzip", gzipped(t, long)); !d.GetTruncated() {
		t.Errorf("a body of twice the limit is %.20s", asText(d))
	}
}

func TestAStreamThatBreaksInABodyIsAnError(t *testing.T) {
	broken := errors.New("broken")
	for _, readAll := range []bool{false, true} {
		b := &bodies{readAll: readAll}
		from := io.NopCloser(io.MultiReader(strings.NewReader(`{"a"`), errReader{broken}))
		if _, err := b.read(http.Header{"Content-Type": {"application/json"}}, from); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	}
}

type errReader struct{ error }

func (e errReader) Read([]byte) (int, error) { return 0, e.error }

func TestBothHashersAgree(t *testing.T) {
	h := newHasher()
	d := body(t, new(bodies), "application/json", "", `{"b":[1,-0.5,"x",true,false,null,{}],"a":{"c":[]},"":""}`)
	p := &ir.Primitive{Value: &ir.Primitive_Hidden{Hidden: 7}, Format: "uuid"}
	w := &ir.Witness{Method: "GET", Path: "/x", Status: 200, Request: truncated("y"), Response: d}
	for _, c := range []struct {
		direct uint64
		m      proto.Message
	}{{h.data(d), d}, {h.primitive(p), p}, {h.witness(w), w}, {h.witness(new(ir.Witness)), new(ir.Witness)}, {h.data(new(ir.Data)), new(ir.Data)}} {
		reflected, err := hashReflect(c.m)
		if err != nil || reflected != c.direct {
			t.Errorf("%v: %x by reflection, %x directly, %v", c.m, reflected, c.direct, err)
		}
	}
}

func TestAHashTellsValuesApart(t *testing.T) {
	h := newHasher()
	seen := map[uint64]string{}
	for _, s := range []string{`1`, `"1"`, `true`, `false`, `null`, `0`, `""`, `[]`, `{}`, `[1]`, `[[1]]`, `{"a":1}`, `{"a":[1]}`, `{"b":1}`, `[1,2]`, `[2,1]`} {
		sum := h.data(body(t, new(bodies), "application/json", "", s))
		if other, twice := seen[sum]; twice {
			t.Errorf("%s and %s have the same hash", s, other)
		}
		seen[sum] = s
	}
}

func TestFormatsAreRecognised(t *testing.T) {
	for _, eachTime := range []bool{false, true} {
		f := newFormats(eachTime)
		for text, want := range map[string]string{
			"0b5c8f2e-1d2c-4e5f-a6b7-c8d9e0f1a2b3": "uuid", "2026-01-02T03:04:05Z": "time", "2026-01-02": "date",
			"a@example.org": "email", "192.0.2.1": "ipv4", "https://example.org/x?y": "url", "": "", "hello": "", "12": "",
		} {
			if got := f.of(text); got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
		}
	}
}

func TestAWalkerKnowsWhereItIs(t *testing.T) {
	w := &ir.Witness{Response: body(t, new(bodies), "application/json", "", `{"a":[{"b":1}]}`)}
	for _, copies := range []bool{false, true} {
		var seen []string
		(&walker{copies: copies}).walk(w, func(at *position, _ *ir.Data) { seen = append(seen, at.String()) })
		if got := strings.Join(seen, " "); got != "response response.a response.a.[] response.a.[].b" {
			t.Errorf("copies %t: %s", copies, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		key := connection{}
		for _, readAll := range []bool{false, true} {
			c := newConversations(&bodies{readAll: readAll}, func(*ir.Witness) {})
			c.open[key] = &conversation{waiting: map[int]*ir.Witness{}}
			c.read(key, bufio.NewReader(bytes.NewReader(b)))
		}
	})
}

func BenchmarkHash(b *testing.B) {
	d, err := new(bodies).read(http.Header{"Content-Type": {"application/json"}}, io.NopCloser(strings.NewReader(
		`{"users":[{"id":"1","email":"a@example.org","roles":["x","y"],"address":{"city":"z","from":"192.0.2.1"}}]}`)))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		h := newHasher()
		for b.Loop() {
			h.data(d)
		}
	})
	b.Run("reflect", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			hashReflect(d)
		}
	})
}
