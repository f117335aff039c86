package recording

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed schema.sql
var schema string

// table is a table and the columns that a Writer gives it, in the order of
// schema.sql; the row number "id" comes before them and is SQLite's to choose.
type table struct {
	name    string
	columns []string
}

var (
	cgroupNames = slices.Concat(names("", cgroupColumns), names("", statColumns), names("", eventsColumns))
	afterNames  = slices.Concat(names("after_", cgroupColumns), names("after_", statColumns), names("after_", eventsColumns))

	tableProcess = table{"process", words(`host boot_id pid start_ticks parent name exe args
		go_version experiments module module_version main_package revision build_id arch pie cgo stripped deps heap_profile why_not found_by`)}
	tableSample = table{"sample", slices.Concat([]string{"at"}, cgroupNames,
		names("", pressureColumns), names("", hostColumns), words("unchanged"))} // unchanged since 1.6
	tableProcessSample = table{"process_sample", slices.Concat([]string{"at", "process"},
		names("", residentColumns), names("", runtimeColumns), words("unchanged"))}
	tableCycle = table{"gc_cycle", words(`at process n missed gc_trigger marked goal pause gogc memory_limit total_alloc`)}
	tableEvent = table{"event", words(`at kind process value text`)}
	tableGap   = table{"gap", words(`since until process what why`)}

	tableFrame    = table{"frame", words(`hash function file line start_line`)}
	tableLocation = table{"location", words(`address frames`)}
	tableSite     = table{"site", words(`process number hash size stack hidden`)}
	tableProfile  = table{"heap_profile", words(`at process rate cycle sites base counts`)}

	tableMoment        = table{"moment", slices.Concat(words(`at kind took stopped first_process processes`), cgroupNames, afterNames)}
	tableProcessMoment = table{"process_moment", slices.Concat(
		words(`moment process signal exit_code profile incomplete first_group groups`),
		names("", residentColumns), names("", residencyColumns), names("", runtimeColumns),
		names("", livenessColumns), words(`live_sampled metrics_at metrics malloc thread_starts`))}
	tableGoroutines = table{"goroutine_group",
		words(`process_moment state reason pcs stack creator created_at count stack_bytes oldest frame_bytes labels locked ids`)}
	tableMetric = table{"metric", words(`name bounds`)} // since 1.1

	// tables are all tables with row numbers; meta has keys instead.
	tables = []table{tableProcess, tableSample, tableProcessSample, tableCycle, tableEvent, tableGap,
		tableFrame, tableLocation, tableSite, tableProfile, tableMoment, tableProcessMoment, tableGoroutines, tableMetric}
)

func words(s string) []string { return strings.Fields(s) }

func (t table) insert() string {
	return "INSERT INTO " + t.name + " (" + strings.Join(t.columns, ", ") +
		") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
}

// sel reads the table in the order in which its rows were written; columns that
// the recording's minor version does not have are NULL. A caller adds a WHERE
// clause and "ORDER BY id", never another order: a scan of a cut table yields
// rows up to the cut, a sort none.
func (r *Reader) sel(t *table) string {
	columns := make([]string, len(t.columns))
	for i, c := range t.columns {
		if columns[i] = c; !r.has(t.name, c) {
			columns[i] = "NULL"
		}
	}
	return "SELECT id, " + strings.Join(columns, ", ") + " FROM " + t.name
}

// has says whether the recording has the column.
func (r *Reader) has(table, column string) bool {
	return r.older == nil || slices.Contains(r.older[table], column)
}
