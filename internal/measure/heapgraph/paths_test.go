package heapgraph

import (
	"slices"
	"testing"
)

func TestWhatGoroutinesShareIsNamedAfterMostOfThem(t *testing.T) {
	held := map[heldBy]heldIn{
		{7, "goroutine main.accept"}: {count: 1}, {7, "goroutine main.serve"}: {count: 100}, {7, "goroutine main.watch"}: {count: 99},
		{3, "goroutine main.b"}: {count: 2}, {3, "goroutine main.a"}: {count: 2}, // as many: by name
	}
	want := []heldBy{{3, "goroutine main.a"}, {3, "goroutine main.b"}, {7, "goroutine main.serve"}, {7, "goroutine main.watch"}, {7, "goroutine main.accept"}}
	if got := inOrder(held); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
