package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

const (
	files      = 4
	rowsOfFile = 40_000
	shards     = 8
)

// order is a row of an import, as it is written.
type order struct {
	Key   uint64            `json:"key"`
	At    time.Time         `json:"at"`
	Buyer string            `json:"buyer"`
	Items map[string]int    `json:"items"`
	Notes map[string]string `json:"notes,omitempty"`
	Cents int               `json:"cents"`
}

// tables writes the files to import.
func tables(dir string) error {
	rng := rand.New(rand.NewPCG(6, 7))
	for n := range files {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("orders-%d.csv", n)))
		if err != nil {
			return err
		}
		w := csv.NewWriter(bufio.NewWriterSize(f, 1<<16))
		for range rowsOfFile {
			var items []string
			for range 1 + rng.IntN(5) {
				items = append(items, fmt.Sprintf("sku-%05d:%d", rng.IntN(20_000), 1+rng.IntN(9)))
			}
			note := ""
			if rng.IntN(4) == 0 {
				note = "gift=" + strings.Repeat("with love ", 1+rng.IntN(6))
			}
			at := time.Unix(1_700_000_000+rng.Int64N(30_000_000), 0).UTC().Format(time.RFC3339)
			_ = w.Write([]string{at, fmt.Sprintf("buyer-%d@example.org", rng.IntN(50_000)), strings.Join(items, ";"), note, strconv.Itoa(rng.IntN(90_000))}) // Error tells
		}
		w.Flush()
		if err := errors.Join(w.Error(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// orders imports all files: each is read whole, sorted, and written as shards of
// compressed JSON lines; the totals of all buyers are kept until the end.
func orders(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "orders-*.csv"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("%s has no orders-*.csv: %w", dir, err)
	}
	totals := map[string][]int{}
	written := 0
	for _, path := range paths {
		list, err := readOrders(path)
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b *order) int { return a.At.Compare(b.At) })
		for _, o := range list {
			totals[o.Buyer] = append(totals[o.Buyer], o.Cents)
		}
		for shard := range uint64(shards) {
			n, err := writeShard(fmt.Sprintf("%s.%d.json.gz", path, shard), list, shard)
			if err != nil {
				return err
			}
			written += n
		}
	}
	fmt.Println("ended,", written, "orders of", len(totals), "buyers")
	return nil
}

func readOrders(path string) (list []*order, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for r := csv.NewReader(bufio.NewReader(f)); ; {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		o, err := parseOrder(row)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, o)
	}
}

func parseOrder(row []string) (o *order, err error) {
	o = &order{Key: xxhash.Sum64String(strings.Join(row, "|")), Buyer: row[1], Items: map[string]int{}}
	if o.At, err = time.Parse(time.RFC3339, row[0]); err != nil {
		return nil, err
	}
	for item := range strings.SplitSeq(row[2], ";") {
		name, count, _ := strings.Cut(item, ":")
		if o.Items[name], err = strconv.Atoi(count); err != nil {
			return nil, err
		}
	}
	if name, text, ok := strings.Cut(row[3], "="); ok {
		o.Notes = map[string]string{name: text}
	}
	o.Cents, err = strconv.Atoi(row[4])
	return o, err
}

// writeShard writes the orders whose keys fall into a shard.
func writeShard(path string, list []*order, shard uint64) (n int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	packed := gzip.NewWriter(f)
	for _, o := range list {
		if o.Key%shards != shard {
			continue
		}
		line, err := json.Marshal(o)
		if err != nil {
			return 0, errors.Join(err, f.Close())
		}
		_, _ = packed.Write(append(line, '\n')) // Close tells
		n++
	}
	return n, errors.Join(packed.Close(), f.Close())
}
