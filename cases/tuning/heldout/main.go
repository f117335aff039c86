// Heldout is programs to hold predictions against that were written when the model was
// finished, two, two and two, each with an amount of work that is fixed:
//
//	heldout index          a server that indexes log lines, and its clients
//	heldout photos DIR     writes the photographs for the next
//	heldout thumbs DIR     makes thumbnails of photographs, behind a bounded queue
//	heldout pages          a shop that renders templates and keeps sessions, and its visitors
//	heldout tables DIR     writes the tables for the next
//	heldout orders DIR     imports tables: sorts them, and writes compressed JSON
//	heldout archives       a server that makes archives of folders in memory, and its users
//	heldout letters        prints mailings, each as one body that grows
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "heldout:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "index":
		return index()
	case len(args) == 2 && args[0] == "photos":
		return photos(args[1])
	case len(args) == 2 && args[0] == "thumbs":
		return thumbs(args[1])
	case len(args) == 1 && args[0] == "pages":
		return pages()
	case len(args) == 2 && args[0] == "tables":
		return tables(args[1])
	case len(args) == 2 && args[0] == "orders":
		return orders(args[1])
	case len(args) == 1 && args[0] == "archives":
		return archives()
	case len(args) == 1 && args[0] == "letters":
		return letters()
	}
	return fmt.Errorf("index, photos DIR, thumbs DIR, pages, tables DIR, orders DIR, archives or letters? not %q", args)
}
