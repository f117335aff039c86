package heapgraph

import (
	"slices"
	"testing"
)

func TestWhatGoroutinesShareIsNamedAfterMostOfThem(t *testing.T) {
	held := map[heldBy]int{
		{7, "goroutine main.accept"}: 1, {7, "goroutine main.serve"}: 100, {7, "goroutine main.watch"}: 99,
		{3, "goroutine main.b"}: 2, {3, "goroutine main.a"}: 2, // as many: by name
	}
	want := []heldBy{{3, "goroutine main.a"}, {3, "goroutine main.b"}, {7, "goroutine main.serve"}, {7, "goroutine main.watch"}, {7, "goroutine main.accept"}}
	if got := inOrder(held); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
