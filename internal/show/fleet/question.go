package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Scope is what a question is about.
type Scope struct {
	Tenant  string
	Service string // "": all
	Since   time.Time
	Now     time.Time
}

func (s Scope) values(more map[string]any) map[string]any {
	all := map[string]any{"tenant": s.Tenant, "service": s.Service, "since": s.Since}
	for name, v := range more {
		all[name] = v
	}
	return all
}

// rows is the condition that rows are of the tenant and of the service, if one is named.
// Both are the beginning of every key: a store reads what they name and no more.
func (s Scope) rows() string {
	if s.Service == "" {
		return "tenant = {tenant:String}"
	}
	return "tenant = {tenant:String} AND service = {service:String}"
}

// among is the condition that a column has one of the values, which it adds to all under
// names that begin so.
func among[T any](column, kind, names string, values []T, all map[string]any) string {
	list := make([]string, len(values))
	for i, v := range values {
		name := fmt.Sprint(names, i)
		all[name] = v
		list[i] = "{" + name + ":" + kind + "}"
	}
	return column + " IN (" + strings.Join(list, ", ") + ")"
}

// Cause is all incidents of one fingerprint: in the time asked for, and before.
type Cause struct {
	Fingerprint string    `json:"fingerprint"` // "": no cause was named, of that service and class
	Service     string    `json:"service"`
	Class       string    `json:"class"`
	Status      Status    `json:"status"`
	Since       string    `json:"since"` // the version that it came, or came back, in
	Count       uint64    `json:"count"` // in the time asked for
	Kills       uint64    `json:"kills"` // of these
	Pods        int       `json:"pods"`
	Versions    []string  `json:"versions"`
	First       time.Time `json:"first"` // ever
	Last        Incident  `json:"-"`     // the newest
	Newest      string    `json:"newest_incident"`
	At          time.Time `json:"at"`
	Sentence    string    `json:"sentence"`
	Cause       string    `json:"cause"`
	Where       string    `json:"where"` // the line to blame, "" for none
	Image       string    `json:"image"` // of the newest incident's container, "": not known
}

// Status is what is known of a cause from before.
type Status string

// The statuses. A cause came back where a version that ran in between did not have it.
const (
	StatusNew   Status = "new"
	StatusKnown Status = "known"
	StatusBack  Status = "came back"
)

// mostIncidents is how many rows one question reads.
const mostIncidents = 10_000

var incidentColumns = strings.Join(Incidents.names(), ", ")

// AllIncidents are those of the scope, the newest first, mostIncidents at most.
func AllIncidents(ctx context.Context, s Store, scope Scope) ([]Incident, error) {
	return ask[Incident](ctx, s, fmt.Sprintf("SELECT %s FROM {incident} WHERE %s AND at >= {since:DateTime} ORDER BY at DESC, incident LIMIT %d", incidentColumns,
		scope.rows(), mostIncidents), scope.values(nil))
}

// Pod is a pod of Kubernetes, in a namespace; "" is any.
type Pod struct{ Namespace, Name string }

// OfPod are the incidents of a pod, the newest first.
func OfPod(ctx context.Context, s Store, scope Scope, pod Pod) ([]Incident, error) {
	values := scope.values(map[string]any{"namespace": pod.Namespace, "pod": pod.Name})
	where := scope.rows() + " AND at >= {since:DateTime} AND pod = {pod:String}"
	if pod.Namespace != "" {
		where += " AND namespace = {namespace:String}"
	}
	return ask[Incident](ctx, s, fmt.Sprintf("SELECT %s FROM {incident} WHERE %s ORDER BY at DESC, incident LIMIT %d", incidentColumns, where,
		mostIncidents), values)
}

// Find is the incident whose ID begins so.
func Find(ctx context.Context, s Store, tenant, prefix string) (Incident, error) {
	lo, hi, err := idRange(prefix)
	if err != nil {
		return Incident{}, err
	}
	found,
		err := ask[Incident](ctx, s,
		"SELECT "+incidentColumns+
			" FROM {incident} WHERE tenant = {tenant:String} AND incident >= {lo:FixedString} AND incident <= {hi:FixedString} ORDER BY at DESC LIMIT 3",
		map[string]any{"tenant": tenant, "lo": lo, "hi": hi})
	switch {
	case err != nil:
		return Incident{}, err
	case len(found) == 0:
		return Incident{}, fmt.Errorf("no incident %s: %w", prefix, ErrNone)
	case len(found) > 1:
		return Incident{}, fmt.Errorf("several incidents begin with %s, %s and %s for two: give more digits", prefix, found[0].Incident, found[1].Incident)
	}
	return found[0], nil
}

// causeOfService is what incidents are one cause by.
type causeOfService struct{ service, fingerprint, class string }

func causeOf(service, fingerprint, class string) causeOfService {
	if fingerprint != "" {
		class = ""
	}
	return causeOfService{service, fingerprint, class}
}

// life is a cause in one version of a service.
type life struct {
	Service, Fingerprint, Class, Version string
	First, Last                          time.Time
}

// version is one version of a service, by the processes that ran it.
type version struct {
	Service, Version string
	First            time.Time
}

// Causes are the incidents of the scope by cause, those with most kills first, and of
// these the newest.
func Causes(ctx context.Context, s Store, scope Scope) ([]Cause, error) {
	all, err := AllIncidents(ctx, s, scope)
	if err != nil {
		return nil, err
	}
	lives, err := ask[life](ctx, s, "SELECT service, fingerprint, class, version, min(at), max(at) FROM {incident} WHERE "+scope.rows()+
		" GROUP BY service, fingerprint, class, version", scope.values(nil))
	if err != nil {
		return nil, err
	}
	versions, err := ask[version](ctx, s, "SELECT service, version, min(started) FROM {process} WHERE "+scope.rows()+" GROUP BY service, version",
		scope.values(nil))
	if err != nil {
		return nil, err
	}
	past := map[causeOfService][]life{}
	for _, l := range lives {
		key := causeOf(l.Service, l.Fingerprint, l.Class)
		past[key] = append(past[key], l)
	}
	return causes(all, past, versions, scope.Since), nil
}

func causes(all []Incident, past map[causeOfService][]life, versions []version, since time.Time) []Cause {
	byCause := map[causeOfService][]Incident{}
	for _, in := range all {
		key := causeOf(in.Service, in.Fingerprint, in.Class)
		byCause[key] = append(byCause[key], in)
	}
	list := []Cause{}
	for key, incidents := range byCause {
		c := summary(incidents)
		c.First = c.At
		for _, l := range past[key] {
			if l.First.Before(c.First) {
				c.First = l.First
			}
		}
		c.Status, c.Since = statusOf(past[key], ofService(versions, key.service), since)
		list = append(list, c)
	}
	sorting.Stable(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Kills, a.Kills), b.At.Compare(a.At), cmp.Compare(a.Newest, b.Newest))
	})
	return list
}

// summary is what incidents of one cause, the newest first, have together.
func summary(incidents []Incident) Cause {
	last := incidents[0]
	c := Cause{Fingerprint: last.Fingerprint, Service: last.Service, Class: last.Class, Count: uint64(len(incidents)), Last: last, Newest: last.Incident.String(),
		At:       last.At,
		Sentence: last.Sentence, Cause: last.Cause, Where: last.Where(), Image: last.Image}
	pods := map[string]bool{}
	for _, in := range incidents {
		if in.Kind == KindKill {
			c.Kills++
		}
		pods[cmp.Or(in.Pod, in.Process.String())] = true
		if !slices.Contains(c.Versions, in.Version) {
			c.Versions = append(c.Versions, in.Version)
		}
	}
	c.Pods = len(pods)
	return c
}

// Where is the line to blame, "" for none.
func (in Incident) Where() string {
	if in.File == "" || in.Line == 0 {
		return in.Function
	}
	return fmt.Sprintf("%s:%d", in.File, in.Line)
}

func ofService(all []version, service string) (list []version) {
	for _, v := range all {
		if v.Service == service {
			list = append(list, v)
		}
	}
	sorting.Stable(list, func(a, b version) int { return a.First.Compare(b.First) })
	return list
}

// statusOf says whether a cause is new since a time, and the version that it came in. It
// came back where, in the order in which versions began, one without it lies before the
// latest ones with it, and after an earlier one with it.
func statusOf(lives []life, versions []version, since time.Time) (Status, string) {
	has := map[string]bool{}
	first := lives[0]
	for _, l := range lives {
		has[l.Version] = true
		if l.First.Before(first.First) {
			first = l
		}
	}
	came, seen, back := first.Version, false, false
	gap := false
	for _, v := range versions {
		switch {
		case has[v.Version] && seen && gap && !v.First.Before(since):
			came, back, gap = v.Version, true, false
		case has[v.Version]:
			seen, gap = true, false
		case seen:
			gap = true
		}
	}
	switch {
	case back:
		return StatusBack, came
	case first.First.Before(since):
		return StatusKnown, came
	}
	return StatusNew, came
}
