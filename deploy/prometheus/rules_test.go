// Package prometheus tests the rules and the dashboard beside it with Prometheus's own parser
// and engine, in a module of its own, so that nothing else depends on them.
package prometheus

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile("rules.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 || len(groups.Groups) != 1 {
		t.Fatal(errs)
	}
	return groups.Groups[0].Rules
}

// metrics are the names that the agent serves, from its source.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile("../../internal/show/fleet/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, name := range regexp.MustCompile(`"(highwater_[a-z_]+)"`).FindAllStringSubmatch(string(b), -1) {
		all[name[1]] = true
	}
	if len(all) < 10 {
		t.Fatalf("%v", all)
	}
	return all
}

// served fails where an expression has a metric that the agent does not serve, or none.
func served(t *testing.T, expression string) {
	t.Helper()
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		t.Errorf("%s: %v", expression, err)
		return
	}
	known, n := metrics(t), 0
	parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			n++
			if !known[v.Name] {
				t.Errorf("%s: the agent serves no %s", expression, v.Name)
			}
		}
		return nil
	})
	if n == 0 {
		t.Errorf("%s: it has no metric", expression)
	}
}

func TestTheRulesAreOfMetricsThatThereAre(t *testing.T) {
	book, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules(t) {
		served(t, r.Expr)
		_, section, ok := strings.Cut(r.Annotations["runbook"], "#")
		if heading := strings.ReplaceAll(section, "-", " "); !ok || !strings.Contains(strings.ToLower(string(book)), "# "+heading+"\n") {
			t.Errorf("%s: the runbook has no section %q", r.Alert, section)
		}
	}
}

func TestTheDashboardAsksForMetricsThatThereAre(t *testing.T) {
	b, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &d); err != nil || d.Title == "" || len(d.Panels) != 8 {
		t.Fatalf("%v, %d panels", err, len(d.Panels))
	}
	for _, p := range d.Panels {
		if len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%+v", p)
		}
		for _, one := range p.Targets {
			served(t, strings.ReplaceAll(one.Expr, "$service", ".*"))
		}
	}
}

// What each rule says of series in which what it is for happens, and before.
func TestTheRulesAlertWhenTheyShould(t *testing.T) {
	for alert, c := range map[string]struct {
		series    string
		well, ill time.Duration
	}{
		"HighwaterKill": {`highwater_incidents_total{instance="a",kind="kill"} 0x30 1x30` + "\n" +
			`highwater_incidents_total{instance="b",kind="crash"} 0x5 1x60`, 28 * time.Minute, 33 * time.Minute},
		"HighwaterLimitWithinAnHour": {`highwater_usage_bytes{service="s"} 80e6x60 80e6+1e6x60` + "\n" + `highwater_limit_bytes{service="s"} 100e6x200`,
			50 * time.Minute, 75 * time.Minute},
		"HighwaterHeapGrowsForADay": {`highwater_heap_live_bytes{service="s"} 200e6x1500 400e6x1500`, 24 * time.Hour, 26 * time.Hour},
		"HighwaterAgentBehind":      {`highwater_agent_spool_age_seconds{instance="a"} 0x30 0+60x60`, 40 * time.Minute, 50 * time.Minute},
		"HighwaterAgentDropsRows":   {`highwater_agent_dropped_rows_total{instance="a",table="point"} 0x30 5x30`, 28 * time.Minute, 40 * time.Minute},
		"HighwaterAgentSeesNotAll": {`highwater_agent_unwatched{instance="a",why="asked"} 3x60` + "\n" +
			`highwater_agent_unwatched{instance="a",why="hidden"} 0x30 2x60`, 28 * time.Minute, 40 * time.Minute},
	} {
		i := slices.IndexFunc(rules(t), func(r rulefmt.Rule) bool { return r.Alert == alert })
		if i < 0 {
			t.Fatalf("no rule %s", alert)
		}
		storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(c.series, "\n", "\n  ")+"\n")
		engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
		at := func(d time.Duration) int {
			q, err := engine.NewInstantQuery(t.Context(), storage, nil, rules(t)[i].Expr, time.Unix(0, 0).Add(d))
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			v, ok := q.Exec(t.Context()).Value.(promql.Vector)
			if !ok {
				t.Fatalf("%s gives no vector", alert)
			}
			return len(v)
		}
		if well, ill := at(c.well), at(c.ill); well != 0 || ill != 1 {
			t.Errorf("%s: %d alerts while all is well, %d after", alert, well, ill)
		}
	}
}
