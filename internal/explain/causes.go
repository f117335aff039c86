package explain

import (
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
)

// cause is something well known to need memory: functions on the allocating
// stack, what they do in plain words, the usual fix, and where it is documented.
type cause struct {
	funcs []string // any of these on the stack; a trailing * matches a prefix
	why   string
	fix   string
	url   string
}

// causes, the most specific first: the first that matches explains.
var causes = []cause{
	{[]string{"mime/multipart.(*Reader).ReadForm", "mime/multipart.(*Reader).readForm", "net/http.(*Request).ParseMultipartForm"},
		"ParseMultipartForm keeps up to its argument in memory, and the buffer doubles while it grows",
		"a smaller in-memory part, or MultipartReader to stream the parts", "https://pkg.go.dev/net/http#Request.ParseMultipartForm"},
	{[]string{"regexp.compile", "regexp.Compile", "regexp.MustCompile"},
		"a regular expression is compiled here; each compilation allocates its program anew",
		"compile it once, in a package variable", "https://pkg.go.dev/regexp#MustCompile"},
	{[]string{"runtime.deferproc", "runtime.newdefer", "runtime.deferprocat"},
		"a defer inside a loop is kept until its function returns, with all it captures",
		"move the loop's body into a function of its own", "https://go.dev/ref/spec#Defer_statements"},
	{[]string{"time.After", "time.NewTimer", "time.Tick", "time.NewTicker"},
		"a timer is made here; before Go 1.23 it stays until it fires, also when nobody waits",
		"one timer that is stopped or reset", "https://pkg.go.dev/time#After"},
	{[]string{"compress/flate.NewReader*", "compress/gzip.NewReader", "compress/flate.NewWriter*", "compress/gzip.NewWriter*", "compress/flate.(*dictDecoder).init", "compress/gzip.(*Writer).*"},
		"each compressor holds its window and tables: about 40 KiB to read, about 1 MiB to write",
		"reuse readers and writers by Reset, from a pool", "https://pkg.go.dev/compress/flate#Resetter"},
	{[]string{"encoding/json.(*Decoder).*", "encoding/json.Unmarshal"},
		"the whole JSON value is built in memory",
		"decode it element by element (json.Decoder.Token and More)", "https://pkg.go.dev/encoding/json#Decoder.Token"},
	{[]string{"io.ReadAll", "io/ioutil.ReadAll", "os.ReadFile"},
		"the whole input is read into one slice, which is copied as it grows",
		"stream it, or bound it with io.LimitReader", "https://pkg.go.dev/io#LimitReader"},
	{[]string{"bytes.growSlice", "bytes.(*Buffer).grow", "bytes.(*Buffer).ReadFrom"},
		"a bytes.Buffer doubles as it grows: old and new exist at the same time",
		"size it first (Grow), or stream instead of collecting", "https://pkg.go.dev/bytes#Buffer.Grow"},
	{[]string{"strings.(*Builder).*"},
		"a strings.Builder copies its text into a larger array as it grows",
		"size it first (Grow), or write to the destination directly", "https://pkg.go.dev/strings#Builder.Grow"},
	{[]string{"sync.(*Pool).Get", "sync.(*Pool).getSlow"},
		"a sync.Pool made it; pooled objects live until two collections passed them by",
		"pool objects of bounded size only", "https://pkg.go.dev/sync#Pool"},
	{[]string{"runtime.growslice"},
		"append copies into a larger array (up to twice the size) when it is full: old and new exist at the same time",
		"make the slice with its final capacity, or process the elements as they come", "https://go.dev/blog/slices-intro"},
	{[]string{"runtime.mapassign*", "internal/runtime/maps.*", "runtime.growWork*"},
		"a map keeps its memory when entries are deleted, and doubles as it grows",
		"bound the map, or make it anew from time to time", "https://github.com/golang/go/issues/20135"},
}

// causeOf is the well-known cause on an allocating stack, innermost first. It
// looks no further out than the blamed function: what called that is not why.
func causeOf(stack []sample.Frame, blamed string) *cause {
	for i := range causes {
		for _, f := range stack {
			if f.Func == blamed {
				break
			}
			if causes[i].matches(f.Func) {
				return &causes[i]
			}
		}
	}
	return nil
}

func (k cause) matches(name string) bool {
	for _, want := range k.funcs {
		if prefix, ok := strings.CutSuffix(want, "*"); ok && strings.HasPrefix(name, prefix) || name == want {
			return true
		}
	}
	return false
}
