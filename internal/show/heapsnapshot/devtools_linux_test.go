package heapsnapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/measure/heapgraph"
)

// reader is the module of Chromium's developer tools that reads heap snapshots for
// the Memory panel.
const reader = "devtools://devtools/bundled/entrypoints/heap_snapshot_worker/heap_snapshot_worker.js"

// devtools opens a page of Chromium's own, which may load that module.
func devtools(t *testing.T) context.Context {
	t.Helper()
	hwtest.Need(t, hwtest.Chromium)
	path, err := hwtest.ChromiumPath()
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(2*time.Minute))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate(reader)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	return ctx
}

// shown is what the Memory panel has to show, by node.
type shown struct {
	Classes          []string
	Selves, Retained []uint64
	Distances        []int64
}

// show lets the reader of the developer tools read a file.
func show(t *testing.T, ctx context.Context, file []byte) (s shown) {
	t.Helper()
	text, err := json.Marshal(string(file))
	if err != nil {
		t.Fatal(err)
	}
	s, err = chromedp.Run(ctx, chromedp.Evaluate[shown](`(async () => {
		const tools = await import('`+reader+`');
		const progress = { updateStatus() {}, updateProgress() {}, sendEvent() {} };
		const loader = new tools.HeapSnapshotLoader.HeapSnapshotLoader(progress);
		const file = `+string(text)+`;
		for (let i = 0; i < file.length; i += 60000) loader.write(file.slice(i, i + 60000));
		loader.close();
		const channel = new MessageChannel();
		if (tools.HeapSnapshot.SecondaryInitManager) new tools.HeapSnapshot.SecondaryInitManager(channel.port2);
		const heap = await loader.buildSnapshot(channel.port1);
		const out = { Classes: [], Selves: [], Retained: [], Distances: [] };
		for (let it = heap.allNodes(); it.hasNext(); it.next()) {
			const n = it.node;
			out.Classes.push(n.className()); out.Selves.push(n.selfSize());
			out.Retained.push(n.retainedSize()); out.Distances.push(n.distance());
		}
		return out;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheMemoryPanelOfChromiumFindsTheSameDominators(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	ctx := devtools(t)
	for _, name := range []string{"map", "list", "context", "blocked"} {
		a := shape(t, name, 400)
		for _, most := range []int{0, 100} {
			f := a.Fold(most)
			var file bytes.Buffer
			if err := OfHeap(f).Write(&file); err != nil {
				t.Fatal(err)
			}
			check(t, file.Bytes())
			s := show(t, ctx, file.Bytes())
			if len(s.Retained) != len(f.Parts) || s.Retained[0] != a.LiveSize {
				t.Fatalf("%s, %d at most: %d nodes that retain %d, of %d parts that retain %d", name, most, len(s.Retained), s.Retained[0], len(f.Parts), a.LiveSize)
			}
			for i := range f.Parts {
				p := &f.Parts[i]
				want, is := uint64(0), ""
				switch {
				case i == 0 || f.Root(p):
					continue
				case p.Node == heapgraph.PartFolded:
					want, is = p.Bytes, foldedName(f, p)
				default:
					want, is = a.Retained(p.Node), f.Name(p)
				}
				// What is folded may retain what it points to as a whole, but no part of it.
				if p.Node == heapgraph.PartFolded && s.Retained[i] > want {
					want = s.Retained[i]
				}
				if s.Retained[i] != want || s.Selves[i] != p.Bytes || s.Classes[i] != is {
					t.Fatalf("%s, %d at most: node %d is %s of %d bytes, retains %d; want %s of %d, %d",
						name, most, i, s.Classes[i], s.Selves[i], s.Retained[i], is, p.Bytes, want)
				}
				if s.Distances[i] < 1 || s.Distances[i] > 1<<20 {
					t.Fatalf("%s, %d at most: node %d, %s, is %d away from the roots", name, most, i, is, s.Distances[i])
				}
			}
		}
	}
}

func TestTheFileHasTheFormOfTheOnesThatV8Writes(t *testing.T) {
	ctx := devtools(t)
	var file strings.Builder
	if err := chromedp.Listen(ctx, func(event any) {
		if chunk, ok := event.(*heapprofiler.EventAddHeapSnapshotChunk); ok {
			file.WriteString(chunk.Chunk) // before the call returns
		}
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, heapprofiler.TakeHeapSnapshot, heapprofiler.TakeHeapSnapshotParams{}); err != nil {
		t.Fatal(err)
	}
	theirs := check(t, []byte(file.String()))
	ours := check(t, written(t, &Graph{}))
	// Some leave out trace_node_id where they traced nothing.
	fields := slices.DeleteFunc(ours.Snapshot.Meta.NodeFields, func(name string) bool {
		return name == "trace_node_id" && !slices.Contains(theirs.Snapshot.Meta.NodeFields, name)
	})
	if !slices.Equal(fields, theirs.Snapshot.Meta.NodeFields) {
		t.Errorf("nodes have %s, V8's %s", fields, theirs.Snapshot.Meta.NodeFields)
	}
	if got, want := toText(t, ours.Snapshot.Meta.EdgeFields), toText(t, theirs.Snapshot.Meta.EdgeFields); got != want {
		t.Errorf("edges have %s, V8's %s", got, want)
	}
	if got, want := toText(t, ours.Snapshot.Meta.NodeTypes[0]), toText(t, theirs.Snapshot.Meta.NodeTypes[0]); !strings.HasPrefix(want,
		strings.TrimSuffix(got, "]")) {
		t.Errorf("types of nodes are %s, V8's %s", got, want)
	}
	if got, want := toText(t, ours.Snapshot.Meta.EdgeTypes), toText(t, theirs.Snapshot.Meta.EdgeTypes); got != want {
		t.Errorf("types of edges are %s, V8's %s", got, want)
	}
}

func toText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
