package app

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestALongStopThatNobodyAskedForIsRefusedAndToldOnce(t *testing.T) {
	var said bytes.Buffer
	taker := newHeapTaker(HeapPolicy{Peak: true, ByDefault: true}, newStatus(&said))
	if err := taker.mayStop(16 * sample.MiB); err != nil {
		t.Errorf("16 MiB: %v", err)
	}
	why := taker.mayStop(200 * sample.MiB)
	if why == nil || !strings.Contains(why.Error(), "--heap peak") {
		t.Fatalf("200 MiB: %v", why)
	}
	taker.rate = 10 << 30 // as measured
	if err := taker.mayStop(200 * sample.MiB); err != nil {
		t.Errorf("200 MiB of a machine that copies 10 GiB a second: %v", err)
	}
	for _, err := range []error{errSmallHeap, why, why, errors.New("gone")} {
		taker.missed(sample.Program{Name: "shop"}, err)
	}
	if len(taker.gaps) != 1 || said.Len() > 0 {
		t.Errorf("gaps %+v, said %q", taker.gaps, said.String())
	}
	asked := newHeapTaker(HeapPolicy{Peak: true}, newStatus(&said))
	if err := asked.mayStop(900 * sample.MiB); err != nil {
		t.Errorf("asked for: %v", err)
	}
}

// An analysis ends once it would make the run end too late.
func TestARunDoesNotWaitForWhatNobodyAskedFor(t *testing.T) {
	taker := newHeapTaker(HeapPolicy{Exit: true, ByDefault: true}, newStatus(&bytes.Buffer{}))
	gaveUp := false
	taker.analyses.Go(func() {
		<-taker.ctx.Done()
		gaveUp = true
	})
	taker.wait()
	if !gaveUp {
		t.Error("it did not give up")
	}
}

func TestWhenHeapsAreCapturedIsAsTheFlagSays(t *testing.T) {
	unasked := HeapPolicy{Kill: true, Exit: true, Peak: true, ByDefault: true}
	for given, want := range map[string]HeapPolicy{"": unasked, "off": {}, "none": {}, "kill": {Kill: true}, "peak,kill": {Peak: true, Kill: true}} {
		f := HeapPolicyFlag{Unasked: unasked}
		if given != "" {
			f.When = strings.Split(given, ",")
		}
		if got, err := f.plan(); err != nil || got != want {
			t.Errorf("--heap %s: %+v, %v", given, got, err)
		}
	}
	if got, err := (HeapPolicyFlag{}).plan(); err != nil || !got.none() {
		t.Errorf("of a trial: %+v, %v", got, err)
	}
}
