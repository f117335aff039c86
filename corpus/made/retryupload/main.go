// Retryupload puts the dump of a database into an object store every few seconds, by
// hashicorp/go-retryablehttp, since the store is away at times. It gives the module a reader of
// the dump: to be able to send it once more, the module reads all of it first. Repaired, it gives
// a function that opens the dump, which is called for each try.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// bucket is the object store, which refuses each third try.
type bucket struct {
	tries  int
	stored int64
}

func (b *bucket) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}
	if b.tries++; b.tries%3 == 1 {
		answer.StatusCode = http.StatusServiceUnavailable
		r.Body.Close()
		return answer, nil
	}
	n, err := io.Copy(io.Discard, r.Body)
	b.stored += n
	r.Body.Close()
	return answer, err
}

// database has 13 MiB of rows, which are dumped again and again up to a size.
type database struct{ rows []string }

func newDatabase() *database {
	d := &database{}
	for i := range 80_000 {
		d.rows = append(d.rows, fmt.Sprintf("INSERT INTO customers VALUES (%d, 'customer %d', '%s');\n", i, i, strings.Repeat("a street", 12)))
	}
	return d
}

// dump gives the rows as text, of left bytes.
type dump struct {
	of   *database
	row  int
	part string
	left int64
}

func (d *dump) Read(p []byte) (n int, err error) {
	for n < len(p) && d.left > 0 {
		if d.part == "" {
			d.part = d.of.rows[d.row%len(d.of.rows)]
			d.row++
		}
		c := copy(p[n:min(len(p), n+int(d.left))], d.part)
		d.part, d.left, n = d.part[c:], d.left-int64(c), n+c
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

type backup struct {
	client *retryablehttp.Client
	from   *database
	opens  bool
}

func (b *backup) put(name string, size int64) error {
	var body any = &dump{of: b.from, left: size}
	if b.opens {
		body = retryablehttp.ReaderFunc(func() (io.Reader, error) { return &dump{of: b.from, left: size}, nil })
	}
	r, err := retryablehttp.NewRequest(http.MethodPut, "http://backups.internal/"+name, body) // truth: reads
	if err != nil {
		return err
	}
	answer, err := b.client.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", name, answer.Status)
	}
	return nil
}

// pause waits, and is false where the program is to end.
func pause(f *frame.Frame, long time.Duration) bool {
	for end := time.Now().Add(long); time.Now().Before(end) && !f.Over(); {
		time.Sleep(20 * time.Millisecond)
	}
	return !f.Over()
}

func main() {
	f := frame.Parse()
	to := &bucket{}
	b := &backup{client: retryablehttp.NewClient(), from: newDatabase(), opens: f.Repaired}
	b.client.HTTPClient.Transport = to
	b.client.RetryWaitMin, b.client.RetryWaitMax, b.client.Logger = 50*time.Millisecond, time.Second, nil
	for n, long := 0, 3*time.Second; pause(f, long); n, long = n+1, 2*time.Second {
		if err := b.put(fmt.Sprintf("dump-%d.sql", n), f.Total); err != nil {
			log.Fatal(err)
		}
	}
	f.Stay()
	log.Printf("%d bytes stored by %d tries", to.stored, to.tries)
}
