package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/sample"
)

func frames(names ...string) []sample.Frame {
	var out []sample.Frame
	for _, n := range names {
		out = append(out, sample.Frame{Func: n})
	}
	return out
}

func TestWellKnownCausesAreFoundOnTheStack(t *testing.T) {
	for _, c := range []struct {
		stack []sample.Frame
		want  string // part of the explanation, "" for none
	}{
		{frames("bytes.growSlice", "bytes.(*Buffer).ReadFrom", "io.copyBuffer", "mime/multipart.(*Reader).readForm", "main.upload"), "ParseMultipartForm"},
		{frames("runtime.growslice", "io.ReadAll", "main.read"), "whole input"},
		{frames("runtime.growslice", "main.rows"), "append"},
		{frames("regexp.compile", "regexp.Compile", "main.match"), "compilation"},
		{frames("runtime.mapassign_faststr", "main.put"), "map"},
		{frames("compress/flate.NewReader", "compress/gzip.(*Reader).Reset", "main.unzip"), "compressor"},
		{frames("strings.(*Builder).grow", "main.page"), "Builder"},
		{frames("runtime.mallocgc", "main.plain"), ""},
		{frames("runtime.mallocgc", "main.inner", "io.ReadAll"), ""}, // further out than the blamed function
	} {
		blamed := ""
		for _, f := range c.stack {
			if strings.HasPrefix(f.Func, "main.") {
				blamed = f.Func
				break
			}
		}
		k := causeOf(c.stack, blamed)
		if (k == nil) != (c.want == "") || k != nil && !strings.Contains(k.why, c.want) {
			t.Errorf("%v: %+v, want %q", c.stack[0].Func, k, c.want)
		}
	}
}

func TestEveryCauseHasAReferenceAndAFix(t *testing.T) {
	for _, k := range causes {
		if k.why == "" || k.fix == "" || !strings.HasPrefix(k.url, "https://") || len(k.funcs) == 0 {
			t.Errorf("%+v is incomplete", k)
		}
	}
}
