package explain

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// What each function of testdata/causes does is known by its real stacks.
func TestWellKnownCausesAreFoundOnRealStacks(t *testing.T) {
	lines := linesOfProgram(t)
	for _, want := range []struct {
		function string
		class    Class
		cause    string
	}{
		{"main.parse", Burst, "multipart-form"},
		{"main.formFile", Burst, "multipart-form"},
		{"main.postForm", Burst, "post-form"},
		{"main.jsonOfBody", Burst, "json-whole"},
		{"main.bodyIntoBuffer", Burst, "buffer-doubling"},
		{"main.decompressedIntoBuffer", Burst, "readall-decompressed"},
		{"main.dumpRequest", Burst, "dumped-body"},
		{"main.dumpResponse", Burst, "dumped-body"},
		{"main.answerIntoBuffer", Burst, "buffer-doubling"},
		{"main.answerRead", Burst, "read-all"},
		{"main.regexpPerCall", Churn, "regexp-per-call"},
		{"main.templatePerCall", Churn, "template-per-call"},
		{"main.deferInLoop", Leak, "defer-in-loop"},
		{"main.timerInLoop", Leak, "timer-in-loop"},
		{"main.tickerNotStopped", Leak, "ticker-not-stopped"},
		{"main.contextNotCancelled", Leak, "context-not-cancelled"},
		{"net/http.(*Transport).dialConn", Leak, "body-not-closed"},
		{"main.rowsNotClosed", Leak, "rows-not-closed"},
		{"main.statementNotClosed", Leak, "statement-not-closed"},
		{"main.decoderNotClosed", Leak, "decoder-not-closed"},
		{"main.compressorPerCall", Churn, "compressor-per-call"},
		{"main.readAllDecompressed", Burst, "readall-decompressed"},
		{"main.readAll", Burst, "read-all"},
		{"main.wholeInputRetained", Leak, "whole-input-retained"},
		{"main.substringRetained", Leak, "substring-retained"},
		{"main.logWriter", Leak, "log-writer"},
		{"main.jsonWhole", Burst, "json-whole"},
		{"main.byReflection", Churn, "by-reflection"},
		{"main.cacheWithoutBound", Leak, "cache-without-bound"},
		{"main.listWithoutBound", Leak, "cache-without-bound"},
		{"main.poolOfBuffers.func1", Burst, ""}, // the pool's own New is own code: who called it is not asked
		{"main.bufferDoubling", Burst, "buffer-doubling"},
		{"main.builderDoubling", Burst, "builder-doubling"},
		{"main.stringConcatenation", Churn, "string-concatenation"},
		{"main.appendDoubling", Burst, "append-doubling"},
		{"main.appendDoubling", Leak, "append-retained"},
		{"main.mapGrowth", Burst, "map-growth"},
		{"main.mapGrowth", Leak, "map-without-bound"},
		{"main.plain", Leak, ""},
		{"main.plain", GCUnaware, "memory-limit-missing"},
		{"main.plain", Spiral, "memory-limit-too-tight"},
		{"main.plain", Goroutines, "goroutine-without-end"},
	} {
		c := &Case{Evidence: &Evidence{Allocators: lines}}
		var most *Allocator
		for i, a := range lines {
			if a.Function == want.function && (most == nil || a.Bytes > most.Bytes) {
				most = &lines[i]
			}
		}
		if most == nil {
			t.Errorf("%s allocated nothing", want.function)
			continue
		}
		got := ""
		if k := c.causeOf(want.class, most.Stack, most.Function, most.Own); k != nil {
			got = k.Name
		}
		if got != want.cause {
			t.Errorf("%s (%s): %q, want %q; stack %v", want.function, want.class, got, want.cause, most.Stack)
		}
	}
}

// linesOfProgram runs testdata/causes and blames each of its stacks on a function,
// as the sites of a recording are blamed on lines.
func linesOfProgram(t *testing.T) (lines []Allocator) {
	t.Helper()
	cmd := exec.Command(hwtest.Build(t, "testdata/causes", hwtest.BuildOptions{}))
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(said)), "\n") {
		bytes, functions, _ := strings.Cut(line, "\t")
		n, err := strconv.ParseUint(bytes, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		site := siteOfFunctions(strings.Split(functions, "\t"))
		b := heapdiff.Blame(site, "")
		lines = append(lines, Allocator{Place: sample.Place{Function: b.Frame.Func}, Own: b.Owner == heapdiff.Own, Bytes: sample.Bytes(n), Stack: framesOf(site)})
	}
	return lines
}

func siteOfFunctions(names []string) (site sample.Site) {
	for _, name := range names {
		site.Stack = append(site.Stack, sample.Location{Frames: []sample.Frame{{Func: name}}})
	}
	return site
}

// The innermost frames of recordings are the runtime's, which a program's own
// profile leaves out.
func TestCausesWithinTheRuntimeAreFound(t *testing.T) {
	for want, stack := range map[string][]string{
		"append-doubling":      {"runtime.growslice", "main.rows"},
		"defer-in-loop":        {"runtime.newdefer", "runtime.deferproc", "main.rows"},
		"map-growth":           {"runtime.mapassign_faststr", "main.rows"},
		"string-concatenation": {"runtime.rawstringtmp", "runtime.concatstrings", "runtime.concatstring2", "main.rows"},
		"upload-without-seek":  {"github.com/aws/aws-sdk-go-v2/feature/s3/manager.(*maxSlicePool).newSlice", "main.rows"},
		"":                     {"runtime.mallocgc", "main.rows", "io.ReadAll"}, // further out than the blamed function
	} {
		frames := framesOf(siteOfFunctions(stack))
		c, got := &Case{Evidence: &Evidence{}}, ""
		if k := c.causeOf(Burst, frames, "main.rows", true); k != nil {
			got = k.Name
		}
		if got != want {
			t.Errorf("%v: %q, want %q", stack, got, want)
		}
	}
}

func TestTheUsersOwnCausesComeFirst(t *testing.T) {
	own, err := ReadCauses(strings.NewReader(`{"schema": "highwater.causes/1", "causes": [{"name": "ours", "functions": ["example.org/shop/cache.*"],
		"why": "our cache keeps what it is given", "fix": "call Trim", "url": "https://example.org/cache"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := scenes["leak"]()
	s.Sites[0].Stack = append([]sample.Frame{{Func: "example.org/shop/cache.grow"}, {Func: "runtime.growslice"}}, s.Sites[0].Stack...)
	a, err := Explain(s.Evidence, nil, own...)
	if err != nil || a.Verdict.Why[0].Text != "our cache keeps what it is given" || a.Verdict.Why[0].URL != "https://example.org/cache" {
		t.Errorf("%+v, %v", a.Verdict.Why, err)
	}
	if want := "cache.go:57: call Trim"; a.Fixes[0].Text != want {
		t.Errorf("fix %q, want %q", a.Fixes[0].Text, want)
	}
}

func TestACauseOfOnesOwnMayBeOfAClassAlone(t *testing.T) {
	own := Cause{Name: "ledger", Classes: []Class{Leak}, Why: "the ledger of the night is kept whole", Fix: "write it out in parts",
		URL: "https://example.org/ledger"}
	for name, want := range map[string]bool{"leak": true, "burst of uploads": false} {
		a, err := Explain(scenes[name]().Evidence, nil, own)
		if err != nil || (a.Verdict.Why[0].Text == own.Why) != want {
			t.Errorf("%s: %+v, %v", name, a.Verdict.Why, err)
		}
	}
}

func TestAFileOfCausesIsReadStrictly(t *testing.T) {
	for want, text := range map[string]string{
		"unknown field":          `{"schema": "highwater.causes/1", "causes": [{"nmae": "x"}]}`,
		"the schema is":          `{"schema": "highwater.causes/2", "causes": []}`,
		"something follows":      `{"schema": "highwater.causes/1", "causes": []} {}`,
		"must not be empty":      `{"schema": "highwater.causes/1", "causes": [{"name": "x", "functions": ["f"], "why": "", "fix": "f", "url": "https://u"}]}`,
		"neither functions":      `{"schema": "highwater.causes/1", "causes": [{"name": "x", "why": "w", "fix": "f", "url": "https://u"}]}`,
		"there is no class":      `{"schema": "highwater.causes/1", "causes": [{"name": "x", "classes": ["bad"], "why": "w", "fix": "f", "url": "https://u"}]}`,
		"stands at the end":      `{"schema": "highwater.causes/1", "causes": [{"name": "x", "functions": ["a*b"], "why": "w", "fix": "f", "url": "https://u"}]}`,
		"begin with https":       `{"schema": "highwater.causes/1", "causes": [{"name": "x", "functions": ["a"], "why": "w", "fix": "f", "url": "http://u"}]}`,
		"comes twice":            `{"schema": "highwater.causes/1", "causes": [{"name": "x", "functions": ["a"], "why": "w", "fix": "f", "url": "https://u"}, {"name": "x", "functions": ["a"], "why": "w", "fix": "f", "url": "https://u"}]}`,
		"unexpected end of JSON": `{"schema"`,
	} {
		if _, err := ReadCauses(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) && want != "unexpected end of JSON" {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A fix takes one line of the report, behind the place of the line.
func TestAFixIsShort(t *testing.T) {
	for _, k := range causes() {
		if len(k.Fix) > 82 {
			t.Errorf("%s: %d characters: %s", k.Name, len(k.Fix), k.Fix)
		}
	}
}

func FuzzReadCauses(f *testing.F) {
	f.Add(causesFile)
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ReadCauses(bytes.NewReader(text))
		for _, k := range list {
			if err == nil && k.check() != nil {
				t.Errorf("%+v was let through", k)
			}
		}
	})
}

// What a module allocates for a request is not put down to the connection that the request came by.
func TestACauseIsNotOfWhoCalledTheModule(t *testing.T) {
	stack := func(names ...string) (list []sample.Frame) {
		for _, name := range names {
			list = append(list, sample.Frame{Func: name})
		}
		return list
	}
	handler := stack("example.net/otel/attribute.computeSet", "example.net/otel/attribute.NewSet", "example.net/otelhttp.(*handler).ServeHTTP",
		"net/http.serverHandler.ServeHTTP", "net/http.(*conn).serve")
	if k := newCase(leaking().Evidence).causeOf(Leak, handler, "example.net/otel/attribute.NewSet", false); k != nil {
		t.Errorf("a module's memory: %s", k.Name)
	}
	conn := stack("net/http.newBufioReader", "net/http.(*conn).serve")
	if k := newCase(leaking().Evidence).causeOf(Leak, conn, "net/http.newBufioReader", false); k == nil || k.Name != "connections-open" {
		t.Errorf("a connection's buffer: %+v", k)
	}
}
