package fleet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// sized is a service whose processes were seen for two days.
type sized struct {
	name                        string
	live, garbage, beside, each uint64 // bytes; each is growth of the live heap a day
	limit, goLimit              uint64
	pods                        int
	kill                        string // class of one
}

func (z sized) fill(t *testing.T, s Store, r *rand.Rand) {
	t.Helper()
	var points []Point
	var hours []HeapHour
	for pod := range z.pods {
		id := hashOf(z.name, fmt.Sprint(pod))
		put(t, s, Processes, Process{Tenant: "t", Service: z.name, Process: id, Namespace: "shop", Container: "web", Version: "v1", Started: monday, Written: monday})
		for h := range 48 {
			at := monday.Add(time.Duration(h) * time.Hour)
			live := z.live + z.each*uint64(h)/24 + uint64(r.IntN(1<<20))
			inUse := live + z.garbage
			p := Point{Tenant: "t", Service: z.name, Process: id, At: at, Resident: sample.Some(inUse + z.beside), HeapLive: sample.Some(live),
				HeapInUse: sample.Some(inUse), Limit: sample.Some(z.limit), UsageMax: sample.Some(inUse + z.beside), Written: at}
			if z.goLimit > 0 {
				p.GoLimit = sample.Some(z.goLimit)
			}
			points = append(points, p)
			hours = append(hours, HeapHour{Tenant: "t", Service: z.name, Stack: AllStacks, Process: id, Hour: at, Version: "v1", InUseSeconds: live * 3600,
				Seconds: 3600, Written: at})
		}
	}
	put(t, s, Points, points...)
	put(t, s, HeapHours, hours...)
	if z.kill != "" {
		put(t, s, Incidents, Incident{Tenant: "t", Service: z.name, At: monday.Add(time.Hour), Incident: hashOf(z.name), Kind: KindKill, Class: z.kill,
			File: "orders/cache.go", Line: 88, Written: monday})
	}
}

func TestALimitFitsWhatAServiceNeedsAndALeakHasNone(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	stores(t, func(t *testing.T, s Store) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, z := range []sized{
			{name: "roomy", live: 40 * mib, garbage: 30 * mib, beside: 20 * mib, limit: 1024 * mib, pods: 4},
			{name: "loop", live: 100 * mib, garbage: 780 * mib, beside: 20 * mib, limit: 1024 * mib, goLimit: 920 * mib, pods: 4},
			{name: "slow-leak", live: 60 * mib, garbage: 10 * mib, beside: 20 * mib, each: 24 * mib, limit: 256 * mib, pods: 4}, // 1 MiB an hour
			{name: "killed-leak", live: 60 * mib, garbage: 10 * mib, beside: 20 * mib, limit: 256 * mib, pods: 4, kill: "leak"},
			{name: "plugins", live: 60 * mib, garbage: 10 * mib, beside: 20 * mib, limit: 256 * mib, pods: 4, kill: "process-leak"},
			{name: "burst", live: 60 * mib, garbage: 10 * mib, beside: 20 * mib, limit: 256 * mib, pods: 4, kill: "burst"},
			{name: "few", live: 60 * mib, garbage: 10 * mib, beside: 20 * mib, limit: 256 * mib, pods: 2},
		} {
			z.fill(t, s, r)
		}
		list, err := Fits(t.Context(), s, Scope{Tenant: "t", Since: monday})
		if err != nil || len(list) != 7 {
			t.Fatalf("%+v, %v", list, err)
		}
		byName := map[string]Fit{}
		for _, f := range list {
			byName[f.Service] = f
		}
		for name, why := range map[string]string{"slow-leak": "the service leaks", "killed-leak": "orders/cache.go:88",
			"plugins": "orders/cache.go:88", "burst": "not for garbage alone",
			"few": "not enough data"} {
			if f := byName[name]; f.Recommended != nil || !strings.Contains(f.Why, why) {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if f := byName["roomy"]; f.Recommended == nil || f.Recommended.Limit < 73*mib || f.Recommended.Limit > 128*mib || f.Recommended.GOMEMLIMIT == 0 {
			t.Errorf("roomy: %+v, %+v", f, f.Recommended)
		}
		f := byName["loop"]
		if f.Recommended == nil || f.Recommended.Limit < 150*mib || f.Recommended.Limit > 256*mib ||
			!strings.Contains(strings.Join(f.Notes, " "), "follows the limit") {
			t.Errorf("loop: %+v, %+v", f, f.Recommended)
		}
	})
}
