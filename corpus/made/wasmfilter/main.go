// Wasmfilter lets customers filter their events by a program of their own, which is WebAssembly
// and runs in wazero. It is compiled once; for each event there is an instance of it, so that no
// event sees what another one left. The instances are not closed, and the runtime knows them
// until it is closed itself. Repaired, that is deferred.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/tetratelabs/wazero"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// filter is the program of a customer, with a memory of some pages of 64 KiB:
//
//	(func (export "passes") (param $at i32) (param $long i32) (result i32)
//	  local.get $at  i32.load8_u  local.get $long  i32.add  i32.const 3  i32.and)
func filter(pages byte) []byte {
	section := func(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, 1, 0x60, 2, 0x7f, 0x7f, 1, 0x7f),
		section(3, 1, 0),
		section(5, 1, 0, pages),
		section(7, append([]byte("\x02\x06passes\x00\x00\x06memory"), 2, 0)...),
		section(10, 1, 15, 0, 0x20, 0, 0x2d, 0, 0, 0x20, 1, 0x6a, 0x41, 3, 0x71, 0x01, 0x01, 0x0b),
	}, nil)
}

type event struct {
	Customer int    `json:"customer"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
}

type gateway struct {
	runtime wazero.Runtime
	filter  wazero.CompiledModule
	closes  bool
	routes  map[int]*route // 14 MiB
	passed  int
}

type route struct {
	targets [12]string
	counts  [24]int64
}

func newGateway(ctx context.Context, pages int, closes bool) (*gateway, error) {
	g := &gateway{runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter()), closes: closes, routes: map[int]*route{}}
	for i := range 40_000 {
		g.routes[i] = &route{targets: [12]string{"mail", "queue", "archive"}, counts: [24]int64{int64(i)}}
	}
	var err error
	g.filter, err = g.runtime.CompileModule(ctx, filter(byte(pages)))
	return g, err
}

// passes asks the customer's program.
func (g *gateway) passes(ctx context.Context, text []byte) (bool, error) {
	instance, err := g.runtime.InstantiateModule(ctx, g.filter, wazero.NewModuleConfig().WithName("")) // truth: makes
	if err != nil {
		return false, err
	}
	if g.closes {
		defer instance.Close(ctx)
	}
	memory := instance.Memory()
	for at := uint32(0); at+uint32(len(text)) <= memory.Size(); at += 512 { // the program's own start
		memory.Write(at, text)
	}
	got, err := instance.ExportedFunction("passes").Call(ctx, 0, uint64(len(text)))
	if err != nil {
		return false, err
	}
	return got[0] > 0, nil
}

func main() {
	f := frame.Parse()
	ctx := context.Background()
	g, err := newGateway(ctx, max(f.Unit>>16, 1), f.Repaired)
	if err != nil {
		log.Fatal(err)
	}
	f.Each(func(i int) {
		text, err := json.Marshal(event{i % 300, "changed", fmt.Sprintf("event %d of today", i)})
		if err != nil {
			log.Fatal(err)
		}
		ok, err := g.passes(ctx, text) // truth: asks
		if err != nil {
			log.Fatal(err)
		}
		if ok {
			g.routes[i%len(g.routes)].counts[0]++
			g.passed++
		}
	})
	f.Stay()
	log.Printf("%d passed", g.passed)
}
