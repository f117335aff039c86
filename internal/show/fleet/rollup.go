package fleet

import (
	"context"
	"fmt"
	"time"
)

// lateFor is how long rows of a day may come after it: what waited in a spool.
const lateFor = 2

// mostDays is how many days one Rollup makes.
const mostDays = 90

// ofDay is what Rollup sums up.
type ofDay struct {
	Service   string
	Stack     ID
	Version   string
	InUse     uint64
	Seconds   uint64
	Processes uint64
	Max       uint64
}

// RolledUp is what a Rollup did.
type RolledUp struct {
	Days []time.Time `json:"days"`
	Rows int         `json:"rows"`
}

// Rollup sums up the hours of each day that was not summed up yet, and again those of today
// and of the last days, as late hours may have come. It may run as often as anybody likes,
// and at the same time: a row of a day is made of its hours alone.
func Rollup(ctx context.Context, s Store, tenant string, now time.Time) (*RolledUp, error) {
	done := &RolledUp{Days: []time.Time{}}
	values := map[string]any{"tenant": tenant, "all": AllStacks}
	type span struct{ First, Last time.Time }
	hours,
		err := ask[span](ctx, s,
		"SELECT min(hour), max(hour) FROM heap_hour WHERE tenant = {tenant:String} AND stack = {all:FixedString} HAVING count(*) > 0", values)
	if err != nil || len(hours) == 0 {
		return done, err
	}
	type one struct{ Day time.Time }
	rolled, err := ask[one](ctx, s, "SELECT DISTINCT day FROM {heap_day} WHERE tenant = {tenant:String} AND stack = {all:FixedString}", values)
	if err != nil {
		return nil, err
	}
	has := map[time.Time]bool{}
	for _, r := range rolled {
		has[r.Day] = true
	}
	today := now.UTC().Truncate(day)
	first := hours[0].First.Truncate(day)
	if oldest := today.Add(-mostDays * day); first.Before(oldest) {
		first = oldest
	}
	for d := first; !d.After(today) && !d.After(hours[0].Last); d = d.Add(day) {
		if has[d] && today.Sub(d) > lateFor*day {
			continue
		}
		n, err := rollupDay(ctx, s, tenant, d, now)
		if err != nil {
			return nil, fmt.Errorf("sum up %s: %w", d.Format(time.DateOnly), err)
		}
		if n > 0 {
			done.Days, done.Rows = append(done.Days, d), done.Rows+n
		}
	}
	return done, nil
}

func rollupDay(ctx context.Context, s Store, tenant string, d, now time.Time) (int, error) {
	rows,
		err := ask[ofDay](ctx, s,
		`SELECT service, stack, version, sum(inuse_seconds), CAST(sum(seconds) AS UInt64), CAST(count(DISTINCT process) AS UInt64), max(inuse_max)
		FROM {heap_hour} WHERE tenant = {tenant:String} AND hour >= {from:DateTime} AND hour < {to:DateTime} GROUP BY service, stack, version`,
		map[string]any{"tenant": tenant, "from": d, "to": d.Add(day)})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var b []byte
	for _, r := range rows {
		b = Encode(b, HeapDay{Tenant: tenant, Service: r.Service, Stack: r.Stack, Version: r.Version, Day: d, InUseSeconds: r.InUse, Seconds: r.Seconds,
			Processes: r.Processes, InUseMax: r.Max, Written: now})
		if len(b) > mostPerBatch {
			if err := s.Put(ctx, HeapDays, b); err != nil {
				return 0, err
			}
			b = b[:0]
		}
	}
	return len(rows), s.Put(ctx, HeapDays, b)
}
