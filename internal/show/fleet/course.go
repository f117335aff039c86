package fleet

import (
	"context"
	"fmt"
	"time"
)

// Hourly is what a process of a version held in an hour, in the mean.
type Hourly struct {
	Version   string    `json:"version"`
	Hour      time.Time `json:"hour"`
	Bytes     float64   `json:"live_bytes"`
	Processes uint64    `json:"processes"`
}

// ofVersion is an hour of all processes of a version.
type ofVersion struct {
	Version   string
	Hour      time.Time
	InUse     uint64
	Seconds   uint64
	Processes uint64
}

// mostCourse is how many hours of versions one question reads.
const mostCourse = 50_000

// Course is the heap of a service by version and hour, by heap profiles, the first hour first.
func Course(ctx context.Context, s Store, scope Scope) ([]Hourly, error) {
	rows,
		err := ask[ofVersion](ctx, s,
		fmt.Sprintf(`SELECT version, hour, sum(inuse_seconds), CAST(sum(seconds) AS UInt64), CAST(count(DISTINCT process) AS UInt64) FROM {heap_hour}
		WHERE %s AND stack = {all:FixedString} AND hour >= {since:DateTime} GROUP BY version, hour ORDER BY hour, version LIMIT %d`, scope.rows(), mostCourse),
		scope.values(map[string]any{"all": AllStacks}))
	list := []Hourly{}
	for _, r := range rows {
		if r.Seconds > 0 {
			list = append(list, Hourly{r.Version, r.Hour, float64(r.InUse) / float64(r.Seconds), r.Processes})
		}
	}
	return list, err
}

// InService is a service and how many of its processes and kills there were.
type InService struct {
	Service   string  `json:"service"`
	Processes uint64  `json:"processes"`
	Silent    uint64  `json:"without_profile"` // of these keep no heap profile
	Kills     uint64  `json:"kills"`
	Growth    float64 `json:"growth_bytes"` // of the lines that grew, in each process
	Line      string  `json:"line"`         // that grew most, "" for none
}

// ranIn is how many processes of a service ran.
type ranIn struct {
	Service   string
	Processes uint64
	Silent    uint64
}

// Services are all of the scope, without what grew.
func Services(ctx context.Context, s Store, scope Scope) ([]InService, error) {
	rows,
		err := ask[ranIn](ctx, s,
		"SELECT service, CAST(count(*) AS UInt64), CAST(sum(CASE WHEN heap_profile = 'off' THEN 1 ELSE 0 END) AS UInt64) FROM {process} WHERE "+scope.rows()+alive+
			" GROUP BY service ORDER BY service",
		scope.values(map[string]any{"from": seconds(scope.Since)}))
	if err != nil {
		return nil, err
	}
	kills, err := killsByService(ctx, s, scope)
	list := make([]InService, len(rows))
	for i, r := range rows {
		list[i] = InService{Service: r.Service, Processes: r.Processes, Silent: r.Silent, Kills: kills[r.Service]}
	}
	return list, err
}
