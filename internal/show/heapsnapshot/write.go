package heapsnapshot

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
)

// nodeFields and edgeFields are how many numbers a node and an edge have.
const (
	nodeFields = 7
	edgeFields = 3
)

// meta says what the numbers mean, as V8 of Chromium 114 to 156 and Node.js 20 do.
// Readers find the fields by it; those of JavaScript's alone stay empty.
const meta = `{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],` +
	`"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic",` +
	`"concatenated string","sliced string","symbol","bigint","object shape"],"string","number","number","number","number","number"],` +
	`"edge_fields":["type","name_or_index","to_node"],` +
	`"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],` +
	`"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],` +
	`"trace_node_fields":["id","function_info_index","count","size","children"],` +
	`"sample_fields":["timestamp_us","last_assigned_id"],` +
	`"location_fields":["object_index","script_id","line","column"]}`

// Write writes the file.
func (g *Graph) Write(to io.Writer) error {
	g.order()
	w := &writer{to: bufio.NewWriterSize(to, 1<<16)}
	w.text(`{"snapshot":{"meta":` + meta + `,"node_count":`)
	w.number(uint64(len(g.nodes)))
	w.text(`,"edge_count":`)
	w.number(uint64(len(g.edges)))
	w.text(`,"trace_function_count":0},` + "\n" + `"nodes":[`)
	g.writeNodes(w)
	w.text("],\n" + `"edges":[`)
	for _, e := range g.edges {
		w.row(uint64(e.kind), uint64(e.name), uint64(e.to)*nodeFields)
	}
	w.text("],\n" + `"trace_function_infos":[],"trace_tree":[],"samples":[],"locations":[],` + "\n" + `"strings":[`)
	for i, s := range g.strings {
		if i > 0 {
			w.text(",\n")
		}
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		w.text(string(text))
	}
	w.text("]}\n")
	return w.to.Flush()
}

func (g *Graph) writeNodes(w *writer) {
	rest := g.edges
	for i, n := range g.nodes {
		edges := 0
		for edges < len(rest) && rest[edges].from == uint32(i) {
			edges++
		}
		rest = rest[edges:]
		w.row(uint64(n.kind), uint64(n.name), uint64(n.id), uint64(n.size), uint64(edges), 0, 0)
	}
	w.rows = 0
}

// writer writes numbers. Its bufio.Writer keeps the first error.
type writer struct {
	to    *bufio.Writer
	space [20]byte
	rows  int
}

func (w *writer) text(s string) { _, _ = w.to.WriteString(s) }

func (w *writer) number(n uint64) { _, _ = w.to.Write(strconv.AppendUint(w.space[:0], n, 10)) }

// row writes one line of an array.
func (w *writer) row(numbers ...uint64) {
	if w.rows++; w.rows > 1 {
		w.text("\n,")
	}
	for i, n := range numbers {
		if i > 0 {
			w.text(",")
		}
		w.number(n)
	}
}
