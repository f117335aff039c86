// Wazerommap runs rules that its users write as WebAssembly. A user changes a rule often; each
// change is compiled in a runtime of its own, run, and closed. It keeps the last answers, 25 MiB.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
)

type engine struct {
	answers [3_300_000]uint64
	next    int
}

// run compiles the rule and asks it once.
func (e *engine) run(ctx context.Context, rule []byte) error {
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	defer r.Close(ctx)
	code, err := r.CompileModule(ctx, rule)
	if err != nil {
		return err
	}
	module, err := r.InstantiateModule(ctx, code, wazero.NewModuleConfig())
	if err != nil {
		return err
	}
	answer, err := module.ExportedFunction("rule").Call(ctx)
	if err != nil {
		return err
	}
	e.next = (e.next + 1) % len(e.answers)
	e.answers[e.next] = answer[0]
	return nil
}

// report is what the last answers are shown as.
func (e *engine) report() int {
	var lines []string
	for i := range 8000 {
		lines = append(lines, fmt.Sprintf("answer %d: %d of %d", i, e.answers[(e.next+len(e.answers)-i)%len(e.answers)], len(e.answers)))
	}
	return len(strings.Join(lines, "\n"))
}

// rule is a module of functions that add up numbers; the first is exported.
func rule(functions, numbers int) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, content []byte) {
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(content)))
		out = append(out, content...)
	}
	section(1, []byte{1, 0x60, 0, 1, 0x7f}) // one type: nothing to i32
	section(3, append(binary.AppendUvarint(nil, uint64(functions)), make([]byte, functions)...))
	section(7, append([]byte{1, 4}, "rule\x00\x00"...))
	body := []byte{0, 0x41, 1}
	for i := range numbers {
		body = append(body, 0x41, byte(i%64), 0x6a, 0x41, 3, 0x73) // + i, xor 3
	}
	body = append(body, 0x0b)
	one := append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	section(10, append(binary.AppendUvarint(nil, uint64(functions)), bytes.Repeat(one, functions)...))
	return out
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	e, text := &engine{}, rule(60, 400)
	for i := range e.answers {
		e.answers[i] = uint64(i)
	}
	end, tick := time.Now().Add(*last), time.NewTicker(40*time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		<-tick.C
		if err := e.run(context.Background(), text); err != nil {
			log.Fatal(err)
		}
		if e.report() == 0 {
			log.Fatal("an empty report")
		}
	}
}
