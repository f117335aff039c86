package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

// largestBody is how much of a body the agent looks at.
const largestBody = 10 << 20

// Of a body that is no JSON, this much is kept as text.
const keptText = 4 << 10

// deepest is how far JSON may be nested.
const deepest = 100

// bodies turns the bodies of HTTP messages into values.
type bodies struct {
	readAll bool // hold a body whole before it is looked at
}

// read takes a body to its end, so that the next message can be read. The error
// is of the stream; a body that makes no sense is a value like any other.
func (b *bodies) read(header http.Header, body io.ReadCloser) (*ir.Data, error) {
	defer body.Close()
	watched := &watched{from: body}
	data := b.data(header, watched)
	if _, err := io.Copy(io.Discard, watched); err != nil {
		return nil, err
	}
	return data, watched.err
}

// data reads as much of a body as it needs.
func (b *bodies) data(header http.Header, body io.Reader) *ir.Data {
	plain := body
	if b.readAll {
		plain = io.LimitReader(body, largestBody) // of the bytes that went over the wire
	}
	if header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(plain)
		if err != nil {
			return truncated("")
		}
		defer z.Close()
		plain = z
	}
	if b.readAll {
		whole, _ := io.ReadAll(plain) // fault: readall
		plain = bytes.NewReader(whole)
	}
	limited := &io.LimitedReader{R: plain, N: largestBody}
	if !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		return text(limited)
	}
	d := json.NewDecoder(limited)
	d.UseNumber()
	data, err := value(d, 0)
	switch {
	case errors.Is(err, io.EOF) && data == nil && limited.N == largestBody:
		return nil // no body
	case err != nil:
		return truncated("")
	}
	return data
}

// text keeps the beginning of what is no JSON.
func text(from io.Reader) *ir.Data {
	start, _ := io.ReadAll(io.LimitReader(from, keptText))
	if len(start) == 0 {
		return nil
	}
	if len(start) == keptText {
		return truncated(string(start))
	}
	return textValue(string(start))
}

// textValue makes a value of text; protobuf takes no other than UTF-8.
func textValue(s string) *ir.Data {
	return primitive(&ir.Primitive{Value: &ir.Primitive_Text{Text: strings.ToValidUTF8(s, "\uFFFD")}})
}

func truncated(s string) *ir.Data {
	d := textValue(s)
	d.Truncated = true
	return d
}

func primitive(p *ir.Primitive) *ir.Data { return &ir.Data{Value: &ir.Data_Primitive{Primitive: p}} }

// value reads one JSON value, token by token: no more of the text is in memory
// than the decoder's buffer.
func value(d *json.Decoder, depth int) (*ir.Data, error) {
	if depth > deepest {
		return nil, fmt.Errorf("nested deeper than %d", deepest)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return object(d, depth)
		}
		return list(d, depth)
	case string:
		return textValue(t), nil
	case json.Number:
		n, err := t.Float64()
		return primitive(&ir.Primitive{Value: &ir.Primitive_Number{Number: n}}), err
	case bool:
		return primitive(&ir.Primitive{Value: &ir.Primitive_Flag{Flag: t}}), nil
	}
	return primitive(new(ir.Primitive)), nil // null
}

func object(d *json.Decoder, depth int) (*ir.Data, error) {
	fields := map[string]*ir.Data{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		field, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		fields[key.(string)] = field // the decoder takes nothing else for a key
	}
	_, err := d.Token() // }
	return &ir.Data{Value: &ir.Data_Struct{Struct: &ir.Struct{Fields: fields}}}, err
}

func list(d *json.Decoder, depth int) (*ir.Data, error) {
	var elements []*ir.Data
	for d.More() {
		element, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
	}
	_, err := d.Token() // ]
	return &ir.Data{Value: &ir.Data_List{List: &ir.List{Elements: elements}}}, err
}

// watched remembers an error that is the stream's, so that it is not taken for
// the body's.
type watched struct {
	from io.Reader
	err  error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}
