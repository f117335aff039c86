package frame

import (
	"testing"
	"time"
)

func TestEachMakesTheTotalAndNoMore(t *testing.T) {
	f := &Frame{Unit: 10, Total: 95, start: time.Now()}
	var made []int
	f.Each(func(i int) { made = append(made, i) })
	if len(made) != 10 || made[0] != 0 || made[9] != 9 {
		t.Errorf("pieces %v", made)
	}
}

func TestEachEndsWhenItIsAskedTo(t *testing.T) {
	end := make(chan struct{})
	f := &Frame{Unit: 1, ended: end, start: time.Now()}
	made := 0
	f.Each(func(i int) {
		if made++; i == 2 {
			close(end)
		}
	})
	if made != 3 {
		t.Errorf("%d pieces after the end was asked for at the third", made)
	}
	if f.Stay(); !f.Over() {
		t.Error("the end is forgotten by who asks again")
	}
}

func TestAPieceIsDueByTheRate(t *testing.T) {
	f := &Frame{Unit: 1 << 20, Rate: 4 << 20}
	if got := f.due(6); got != 1500*time.Millisecond {
		t.Errorf("the seventh MiB at 4 MiB/s is due after %v", got)
	}
	if got := (&Frame{Unit: 1 << 20}).due(6); got != 0 {
		t.Errorf("without a rate it is due after %v", got)
	}
}
