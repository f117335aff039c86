package main

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
)

// A range has as many lines as make about 32 KB: the rest of a SHA-1 in 35
// hexadecimal digits, a colon, how often the password was seen.
const (
	leastLines = 740
	moreLines  = 100
)

// origin serves synthetic ranges at /range/NAME. The content depends on the name
// alone, so that what was mirrored can be compared. digits is the length of a name.
func origin(digits int) http.Handler {
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /range/{name}", func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.ParseUint(r.PathValue("name"), 16, 32)
		if err != nil || len(r.PathValue("name")) != digits {
			http.Error(w, "the hash prefix was not in a valid format", http.StatusBadRequest)
			return
		}
		b := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(b)
		b.Reset()
		writeRange(b, number)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
		w.Write(b.Bytes())
	})
	return mux
}

// writeRange writes the range of a number.
func writeRange(b *bytes.Buffer, number uint64) {
	const hexadecimal = "0123456789ABCDEF"
	source := rand.NewPCG(number, 5)
	line := make([]byte, 0, 64)
	for range leastLines + source.Uint64()%moreLines {
		line = line[:0]
		for len(line) < 35 {
			bits := source.Uint64()
			for range min(16, 35-len(line)) {
				line = append(line, hexadecimal[bits&15])
				bits >>= 4
			}
		}
		line = append(line, ':')
		line = strconv.AppendUint(line, 1+source.Uint64()%1000, 10)
		line = append(line, "\r\n"...)
		b.Write(line)
	}
}
