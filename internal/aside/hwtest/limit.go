package hwtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// removeTime bounds the wait for the last process of a cgroup to end, which in
// an emulated guest takes seconds.
const removeTime = 30 * time.Second

// Limit makes a cgroup with that limit, 0 for none, for the time of the test.
// Whatever is left in it at the end is killed. It skips like Need(t, Cgroup).
func Limit(t testing.TB, limit sample.Bytes) *cgroup.Cgroup {
	t.Helper()
	Slow(t, "holds a program under a limit")
	h, err := cgroup.Detect("/")
	if err != nil {
		skip(t, err)
	}
	c, err := h.Create(cgroup.Options{Name: t.Name(), Limit: limit})
	if errors.Is(err, cgroup.ErrNotPermitted) {
		skip(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(c); err != nil {
			t.Error(err)
		}
	})
	return c
}

func remove(c *cgroup.Cgroup) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	return errors.Join(c.Kill(), c.Remove(ctx))
}
