// Redactlog takes the addresses and numbers out of a log before a support case gets it: it
// reads the log as a whole, splits it, and joins what is left of its lines, every few
// seconds for another case. Repaired, it goes line by line.
package main

import (
	"bufio"
	"io"
	"log"
	"regexp"
	"strings"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var rules = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`user=\d+`), "user=[number]"},
	{regexp.MustCompile(`card=\d{4}`), "card=[card]"},
}

// upload is a log that comes over a line, of left bytes.
type upload struct{ left, at int }

const pattern = "2026-01-01T00:00:00Z info order=1 user=4711 card=1234 stored, and told to the warehouse, which has it and will send it tomorrow\n"

func (u *upload) Read(p []byte) (int, error) {
	if u.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && u.left > 0 {
		c := copy(p[n:min(len(p), n+u.left)], pattern[u.at:])
		u.at = (u.at + c) % len(pattern)
		n, u.left = n+c, u.left-c
	}
	return n, nil
}

type redactor struct {
	cases   int
	words   map[string][]byte // 12 MiB
	counted int
}

func clean(line string) string {
	for _, r := range rules {
		if strings.Contains(line, r.with[:5]) {
			line = r.find.ReplaceAllString(line, r.with) // truth: cleans
		}
	}
	return line
}

// whole gives the log in one piece.
func (r *redactor) whole(from io.Reader) (string, error) {
	raw, err := io.ReadAll(from) // truth: reads
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(raw), "\n") // truth: splits
	for i := range lines {
		lines[i] = clean(lines[i]) // truth: line
	}
	return strings.Join(lines, "\n"), nil // truth: joins
}

// stream writes the log to out as it comes.
func (r *redactor) stream(from io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(from)
	w := bufio.NewWriter(out)
	for lines.Scan() {
		w.WriteString(clean(lines.Text()))
		w.WriteByte('\n')
	}
	return w.Flush()
}

func main() {
	f := frame.Parse()
	r := &redactor{words: map[string][]byte{}}
	for i := range 12 << 6 {
		r.words[strings.Repeat("w", i+1)] = frame.Touch(make([]byte, 16<<10))
	}
	for !f.Over() {
		from := &upload{left: int(f.Total / 2)}
		if f.Repaired {
			if err := r.stream(from, io.Discard); err != nil {
				log.Fatal(err)
			}
		} else {
			text, err := r.whole(from)
			if err != nil {
				log.Fatal(err)
			}
			r.counted += len(text)
		}
		r.cases++
		for pause := time.Now().Add(2 * time.Second); time.Now().Before(pause) && !f.Over(); {
			time.Sleep(20 * time.Millisecond)
		}
	}
	f.Stay()
}
