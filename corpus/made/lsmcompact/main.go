// Lsmcompact is a store of readings in the form of a log-structured merge tree: a
// table in memory that is frozen into a sorted run, and runs that are merged into
// one, for which there are two of them for a moment. The keys repeat, so that it
// comes to rest, in waves: no fault. It has no faulty form.
package main

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/google/btree"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type pair struct{ key, value []byte }

func less(a, b pair) bool { return bytes.Compare(a.key, b.key) < 0 }

// run is sorted, each key once, keys and values in one block.
type run struct {
	block []byte
	at    []int // of each pair: where its key begins
	size  int   // bytes of a value
}

type tree struct {
	young *btree.BTreeG[pair]
	runs  []*run // the newest is the last
	most  int    // pairs of the young table
}

const keyBytes = 12

func main() {
	f := frame.Parse()
	keys := max(64, f.Count())
	t := &tree{young: btree.NewG(32, less), most: max(16, keys/12)}
	f.Total = 0 // readings go on
	f.Each(func(i int) {
		value := frame.Touch(make([]byte, f.Unit)) // truth: allocates
		t.put(fmt.Appendf(nil, "%0*d", keyBytes, i*7919%keys), value)
		if i%16 == 0 {
			t.get(fmt.Appendf(nil, "%0*d", keyBytes, i%keys))
		}
	})
	f.Stay()
}

func (t *tree) put(key, value []byte) {
	t.young.ReplaceOrInsert(pair{key, value})
	if t.young.Len() < t.most {
		return
	}
	var all []pair
	t.young.Ascend(func(p pair) bool {
		all = append(all, p)
		return true
	})
	t.runs = append(t.runs, freeze(all))
	t.young.Clear(false)
	if len(t.runs) > 4 {
		t.compact()
	}
}

func (t *tree) get(key []byte) []byte {
	if p, ok := t.young.Get(pair{key: key}); ok {
		return p.value
	}
	for n := len(t.runs) - 1; n >= 0; n-- {
		if v := t.runs[n].find(key); v != nil {
			return v
		}
	}
	return nil
}

// freeze puts pairs, which are sorted, into one block.
func freeze(all []pair) *run {
	if len(all) == 0 {
		return &run{}
	}
	r := &run{size: len(all[0].value), block: make([]byte, 0, len(all)*(keyBytes+len(all[0].value)))} // truth: allocates
	for _, p := range all {
		r.at = append(r.at, len(r.block))
		r.block = append(append(r.block, p.key...), p.value...)
	}
	return r
}

func (r *run) key(i int) []byte   { return r.block[r.at[i] : r.at[i]+keyBytes] }
func (r *run) value(i int) []byte { return r.block[r.at[i]+keyBytes:][:r.size] }

func (r *run) find(key []byte) []byte {
	i := sort.Search(len(r.at), func(i int) bool { return bytes.Compare(r.key(i), key) >= 0 })
	if i < len(r.at) && bytes.Equal(r.key(i), key) {
		return r.value(i)
	}
	return nil
}

// compact merges all runs; of each key the newest value stays.
func (t *tree) compact() {
	newest := map[string]pair{}
	for _, r := range t.runs {
		for i := range r.at {
			newest[string(r.key(i))] = pair{r.key(i), r.value(i)}
		}
	}
	all := make([]pair, 0, len(newest))
	for _, p := range newest {
		all = append(all, p)
	}
	sort.Slice(all, func(a, b int) bool { return less(all[a], all[b]) })
	t.runs = []*run{freeze(all)}
}
