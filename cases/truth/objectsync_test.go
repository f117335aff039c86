package main

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/cases/internal/symptom"
)

func TestAKillIsToldFromALivelock(t *testing.T) {
	for _, c := range []struct {
		s    synced
		want string
	}{
		{synced{Figures: symptom.Figures{Killed: true, Took: 3 * time.Second}}, "killed after 3.0 s"},
		{synced{done: true}, "alive"},
		{synced{Figures: symptom.Figures{LimitHits: 9}, took: livelockAfter}, "livelock: no end after 40 s, the limit met 9 times"},
	} {
		if got := c.s.fate(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
