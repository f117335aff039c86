package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

// harFile writes exchanges as an HTTP Archive 1.2, one entry after the other.
// Bodies stand in it as the agent understood them.
type harFile struct {
	file    *os.File
	to      *bufio.Writer
	entries int
	err     error // the first; nothing is written after it
}

func createHAR(name string) (*harFile, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	h := &harFile{file: f, to: bufio.NewWriter(f)}
	_, h.err = h.to.WriteString(`{"log":{"version":"1.2","creator":{"name":"trafficagent","version":"1"},"entries":[`)
	return h, h.err
}

type dict = map[string]any

func (h *harFile) add(w *ir.Witness) {
	if h.err != nil {
		return
	}
	request := dict{"method": w.Method, "url": "http://" + w.Host + w.Path, "httpVersion": "HTTP/1.1",
		"headers": []any{}, "queryString": []any{}, "cookies": []any{}, "headersSize": -1, "bodySize": -1}
	if w.Request != nil {
		request["postData"] = dict{"mimeType": "application/json", "text": asText(w.Request)}
	}
	b, err := json.Marshal(dict{
		"startedDateTime": time.Now().UTC().Format(time.RFC3339Nano), "time": 0, "request": request,
		"response": dict{"status": w.Status, "statusText": "", "httpVersion": "HTTP/1.1", "headers": []any{}, "cookies": []any{},
			"content":     dict{"size": -1, "mimeType": "application/json", "text": asText(w.Response)},
			"redirectURL": "", "headersSize": -1, "bodySize": -1},
		"cache": dict{}, "timings": dict{"send": -1, "wait": -1, "receive": -1},
	})
	if h.entries > 0 {
		h.to.WriteByte(',')
	}
	h.entries++
	h.to.Write(b)
	h.err = err
}

func (h *harFile) close() error {
	h.to.WriteString("]}}\n")
	if err := h.to.Flush(); h.err == nil { // bufio keeps the first error of a write
		h.err = err
	}
	if err := h.file.Close(); h.err == nil {
		h.err = err
	}
	if h.err != nil {
		return fmt.Errorf("write %s: %w", h.file.Name(), h.err)
	}
	return nil
}

// asText is a value as JSON, without what was cut off.
func asText(d *ir.Data) string {
	b, err := json.Marshal(plain(d))
	if err != nil {
		return ""
	}
	return string(b)
}

func plain(d *ir.Data) any {
	switch v := d.GetValue().(type) {
	case *ir.Data_Primitive:
		switch p := v.Primitive.Value.(type) {
		case *ir.Primitive_Text:
			return p.Text
		case *ir.Primitive_Number:
			return p.Number
		case *ir.Primitive_Flag:
			return p.Flag
		}
	case *ir.Data_Struct:
		fields := map[string]any{}
		for name, field := range v.Struct.Fields {
			fields[name] = plain(field)
		}
		return fields
	case *ir.Data_List:
		elements := []any{}
		for _, e := range v.List.Elements {
			elements = append(elements, plain(e))
		}
		return elements
	}
	return nil
}
