package heapsnapshot

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// snapshot is a file as it is.
type snapshot struct {
	Snapshot struct {
		Meta struct {
			NodeFields []string          `json:"node_fields"`
			NodeTypes  []json.RawMessage `json:"node_types"`
			EdgeFields []string          `json:"edge_fields"`
			EdgeTypes  []json.RawMessage `json:"edge_types"`
		}
		NodeCount int `json:"node_count"`
		EdgeCount int `json:"edge_count"`
	}
	Nodes, Edges []uint64
	Strings      []string
}

func written(t *testing.T, g *Graph) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := g.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// check reads a file and fails the test where it breaks a rule that V8's files keep.
func check(t *testing.T, file []byte) *snapshot {
	t.Helper()
	var s snapshot
	if err := json.Unmarshal(file, &s); err != nil {
		t.Fatal(err)
	}
	perNode, perEdge := len(s.Snapshot.Meta.NodeFields), len(s.Snapshot.Meta.EdgeFields)
	if len(s.Nodes) != perNode*s.Snapshot.NodeCount || len(s.Edges) != perEdge*s.Snapshot.EdgeCount {
		t.Fatalf("%d numbers of %d nodes, %d of %d edges", len(s.Nodes), s.Snapshot.NodeCount, len(s.Edges), s.Snapshot.EdgeCount)
	}
	var nodeTypes, edgeTypes []string
	if json.Unmarshal(s.Snapshot.Meta.NodeTypes[0], &nodeTypes) != nil || json.Unmarshal(s.Snapshot.Meta.EdgeTypes[0], &edgeTypes) != nil {
		t.Fatal("types are no lists of names")
	}
	ids, edges := make(map[uint64]bool), 0
	first := make([]int, s.Snapshot.NodeCount+1)
	for i := range s.Snapshot.NodeCount {
		n := s.Nodes[i*perNode:][:perNode]
		if n[0] >= uint64(len(nodeTypes)) || n[1] >= uint64(len(s.Strings)) || n[3] > mostSize || ids[n[2]] {
			t.Fatalf("node %d is %v", i, n)
		}
		ids[n[2]] = true
		first[i], edges = edges, edges+int(n[4])
	}
	first[s.Snapshot.NodeCount] = edges
	if edges != s.Snapshot.EdgeCount {
		t.Fatalf("nodes have %d edges, the file %d", edges, s.Snapshot.EdgeCount)
	}
	for i := range edges {
		e := s.Edges[i*perEdge:][:perEdge]
		named := e[0] < uint64(len(edgeTypes)) && edgeTypes[e[0]] != "element" && edgeTypes[e[0]] != "hidden"
		if e[0] >= uint64(len(edgeTypes)) || e[2]%uint64(perNode) != 0 || e[2] >= uint64(len(s.Nodes)) || named && e[1] >= uint64(len(s.Strings)) {
			t.Fatalf("edge %d is %v", i, e)
		}
	}
	if s.Snapshot.NodeCount > 0 {
		reachable(t, &s, first)
	}
	return &s
}

// reachable fails the test where the root does not lead to a node.
func reachable(t *testing.T, s *snapshot, first []int) {
	t.Helper()
	perNode, perEdge := len(s.Snapshot.Meta.NodeFields), len(s.Snapshot.Meta.EdgeFields)
	seen, todo := make([]bool, s.Snapshot.NodeCount), []int{0}
	seen[0] = true
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for e := first[at]; e < first[at+1]; e++ {
			if to := int(s.Edges[e*perEdge+2]) / perNode; !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	for i, ok := range seen {
		if !ok {
			t.Fatalf("nothing leads to node %d, %s", i, s.Strings[s.Nodes[i*perNode+1]])
		}
	}
}

// sizes sums the file's nodes by name.
func (s *snapshot) sizes() map[string]uint64 {
	sums := make(map[string]uint64)
	for i := 0; i < len(s.Nodes); i += nodeFields {
		sums[s.Strings[s.Nodes[i+1]]] += s.Nodes[i+3]
	}
	return sums
}

func TestNamesAndSizesOfAnyKindMakeAFileThatCanBeRead(t *testing.T) {
	g := &Graph{}
	root := g.Add(Root, "", 1, 0)
	odd := "main.t[\"\\\x00\n\xff</script>\u2028]"
	big := g.Add(Object, "[]uint8", 7, 10<<30)
	again := g.Add(Object, odd, 7, 1)
	g.Point(again, root, odd, true)
	g.Point(root, again, odd, false) // not in the order of nodes
	g.Index(root, big, 1)
	s := check(t, written(t, g))
	sums := s.sizes()
	if got := sums["[]uint8"] + sums["(the rest of it)"]; got != 10<<30 {
		t.Errorf("10 GiB are %d bytes", got)
	}
	if s.Nodes[len(s.Nodes)-nodeFields+3] != 1 {
		t.Errorf("the last node is %v", s.Nodes[len(s.Nodes)-nodeFields:])
	}
}

func TestACaptureIsItsPathsAndSumsToWhatTheyRetain(t *testing.T) {
	s := check(t, written(t, OfCapture(&sample.HeapCapture{Paths: []sample.HeapPath{
		{Parent: -1, Label: "main.cache", Type: "?", Held: 3001, Retained: 10 << 20},
		{Parent: -1, Label: "goroutine main.wait", Type: "?", Objects: 1, Bytes: 1 << 20, Held: 1, Retained: 1 << 20, Holder: true},
		{Parent: 0, Label: ".entries[]", Type: "main.entry", Objects: 1000, Bytes: 1 << 20, Held: 3000, Retained: 9 << 20},
		{Parent: 2, Label: ".body", Type: "[]uint8", Objects: 1000, Bytes: 7 << 20, Held: 1000, Retained: 7 << 20, Holder: true},
	}})))
	want := map[string]uint64{"": 0, "main.cache": 1 << 20, "goroutine main.wait": 1 << 20, "main.entry": 2 << 20, "[]uint8": 7 << 20}
	for name, size := range s.sizes() {
		if want[name] != size {
			t.Errorf("%q has %d bytes, want %d", name, size, want[name])
		}
	}
	if s.Strings[s.Edges[len(s.Edges)-2]] != "body (1000 objects)" {
		t.Errorf("the last edge is called %q", s.Strings[s.Edges[len(s.Edges)-2]])
	}
}

func TestACaptureOfAForeignFileMakesAFileStill(t *testing.T) {
	check(t, written(t, OfCapture(&sample.HeapCapture{Paths: []sample.HeapPath{
		{Parent: 1, Label: "a", Retained: 1},
		{Parent: 0, Label: "b", Retained: 1 << 63},
	}})))
}
