package fleet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// deploy is hours of two versions with so many processes each; the second holds more, by
// the part that is given, in its second stack.
func deploy(seed uint64, pods int, more float64) (rows []ofHour, begun []started) {
	r := rand.New(rand.NewPCG(seed, 7))
	for n := range 2 * pods {
		process := hashOf("pod", fmt.Sprint(seed, n))
		version, from := "v1", monday
		if n >= pods {
			version, from = "v2", monday.Add(30*time.Hour)
		}
		begun = append(begun, started{process, from.Add(20 * time.Minute)})
		own := 1 + 0.02*r.NormFloat64() // no pod has the load of another
		for h := range 24 {
			base := 100e6 * own * (1 + float64(h)/48) * (1 + 0.03*r.NormFloat64()) // they grow with age
			second := base / 4
			if n >= pods {
				second += base * more
			}
			at := from.Add(time.Duration(h) * time.Hour)
			hour := func(stack ID, bytes float64) ofHour {
				return ofHour{version, process, stack, at, uint64(bytes * 3600), 3600}
			}
			first := base - base/4
			rows = append(rows, hour(AllStacks, first+second), hour(hashOf("first"), first), hour(hashOf("second"), second))
		}
	}
	return rows, begun
}

func compared(rows []ofHour, begun []started) (*Diff, []grown) {
	d := &Diff{Service: "shop", Before: Versioned{Version: "v1"}, After: Versioned{Version: "v2"}, P: 1}
	return d, d.compare(rows, begun)
}

func TestADeployThatTakesATenthMoreIsShown(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		d, stacks := compared(deploy(seed, 5, 0.10))
		if !d.Shown || d.Relative() < 0.05 || d.Relative() > 0.15 || d.Hours != 23 {
			t.Errorf("seed %d: p %.3f, %+.1f%% over %d hours", seed, d.P, 100*d.Relative(), d.Hours)
		}
		if stacks[0].stack != hashOf("second") {
			t.Errorf("seed %d: another line is blamed", seed)
		}
	}
}

func TestADeployThatTakesAsMuchIsNotShown(t *testing.T) {
	t.Parallel()
	shown := 0
	for seed := range uint64(100) {
		if d, _ := compared(deploy(seed, 5, 0)); d.Shown {
			shown++
		}
	}
	if shown > 5 {
		t.Errorf("a difference was shown in %d of 100", shown)
	}
}

func TestFewOrYoungProcessesAreNotCompared(t *testing.T) {
	t.Parallel()
	d, _ := compared(deploy(1, 4, 0.5))
	if d.Shown || !strings.Contains(d.Why, "5 are needed") {
		t.Errorf("%+v", d)
	}
	rows, begun := deploy(1, 5, 0.5)
	var young []ofHour
	for _, r := range rows {
		if r.Version == "v1" || r.Hour.Before(monday.Add(31*time.Hour)) { // the new version's first hour
			young = append(young, r)
		}
	}
	if d, _ := compared(young, begun); d.Shown || d.Why == "" {
		t.Errorf("%+v", d)
	}
}

func TestVersionsAreComparedInAnyStore(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		rows, begun := deploy(3, 5, 0.10)
		var hours []HeapHour
		for _, r := range rows {
			hours = append(hours, HeapHour{Tenant: "t", Service: "shop", Stack: r.Stack, Process: r.Process, Hour: r.Hour, Version: r.Version, InUseSeconds: r.InUse,
				Seconds: r.Seconds, Written: r.Hour})
		}
		put(t, s, HeapHours, hours...)
		for i, b := range begun {
			put(t, s, Processes, Process{Tenant: "t", Service: "shop", Process: b.Process, Started: b.At, Version: fmt.Sprintf("v%d", 1+i/5), Written: b.At})
		}
		put(t, s, Stacks, Stack{Tenant: "t", Stack: hashOf("second"), Function: "shop.(*store).put", File: "/src/shop/put.go", Line: 7, Written: monday})
		scope := Scope{Tenant: "t", Service: "shop", Since: monday}
		versions, err := Versions(t.Context(), s, scope)
		if err != nil || strings.Join(versions, " ") != "v1 v2" {
			t.Fatalf("%v, %v", versions, err)
		}
		d, err := Compare(t.Context(), s, scope, "v1", "v2")
		if err != nil || !d.Shown || d.Lines[0].Function != "shop.(*store).put" || d.Before.Processes != 5 {
			t.Errorf("%+v, %v", d, err)
		}
		if d, err := Compare(t.Context(), s, scope, "v2", "v3"); err != nil || d.Shown || d.Why == "" {
			t.Errorf("a version that nobody ran: %+v, %v", d, err)
		}
	})
}
