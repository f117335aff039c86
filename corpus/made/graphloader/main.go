// Graphloader answers queries of a shop's graph and loads the products of an order
// in batches. The loader was made once, for the whole server, and remembers what it
// ever loaded. Repaired, each query has its own.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type product struct {
	number int
	title  string
	text   string // rendered for who asks
}

type loader = dataloader.Loader[int, *product]

// database has 24 MiB of texts from which products are rendered.
type database struct {
	texts []string
	size  int
}

type resolver struct {
	db     *database
	shared *loader // nil: one a query
}

func main() {
	f := frame.Parse()
	db := &database{size: f.Unit / 4}
	for i := range 1500 {
		db.texts = append(db.texts, strings.Repeat(fmt.Sprintf("Made of oak, no. %5d. ", i), 16<<10/23))
	}
	r := &resolver{db: db}
	if !f.Repaired {
		r.shared = db.loader()
	}
	f.Each(func(i int) {
		if _, err := r.order(context.Background(), i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (db *database) loader() *loader {
	return dataloader.NewBatchedLoader(db.products, dataloader.WithWait[int, *product](100*time.Microsecond))
}

// products is one question to the database for many products.
func (db *database) products(_ context.Context, numbers []int) []*dataloader.Result[*product] {
	all := make([]*dataloader.Result[*product], len(numbers))
	for i, n := range numbers {
		p := &product{number: n, title: fmt.Sprintf("Chair %d", n), text: db.render(n)} // truth: allocates
		all[i] = &dataloader.Result[*product]{Data: p}
	}
	return all
}

func (db *database) render(number int) string {
	var text strings.Builder
	text.Grow(db.size) // truth: allocates
	for line := number; text.Len() < db.size; line++ {
		from := db.texts[line%len(db.texts)]
		text.WriteString(from[:min(len(from), db.size-text.Len())])
	}
	return text.String()
}

// order resolves the four products of an order. A product is in few orders.
func (r *resolver) order(ctx context.Context, number int) (titles []string, err error) {
	products := r.shared
	if products == nil {
		products = r.db.loader()
	}
	wanted := []int{4 * number, 4*number + 1, 4*number + 2, 4*number + 3}
	found, errs := products.LoadMany(ctx, wanted)() // truth: keeps
	for i, p := range found {
		if len(errs) > 0 && errs[i] != nil {
			return nil, errs[i]
		}
		titles = append(titles, p.title)
	}
	return titles, nil
}
