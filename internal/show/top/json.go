package top

import (
	"encoding/json"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Schema names the form of JSON. Fields are only ever added.
const Schema = "highwater.top/1"

// listed is a row for scripts: amounts in bytes, times in seconds; null: not known.
type listed struct {
	PID     int      `json:"pid"` // 0: several
	Program string   `json:"program"`
	Args    string   `json:"args"`
	Go      string   `json:"go_version"` // "": no Go program
	Part    bool     `json:"part"`       // one of the processes of the row above that is none
	State   State    `json:"state"`
	Used    *uint64  `json:"used_bytes"`
	Charge  *uint64  `json:"charge_bytes"`
	Limit   *uint64  `json:"limit_bytes"`
	Growth  *float64 `json:"growth_bytes_per_second"`
	Left    *float64 `json:"seconds_to_limit"`
	GC      *float64 `json:"gc_share"`
}

// JSON is the table for scripts, in the order of Table. found is how many programs there
// are, of which the rows may be the largest.
func JSON(rows []Row, found int) (string, error) {
	out := struct {
		Schema   string   `json:"schema"`
		Found    int      `json:"found"`
		Programs []listed `json:"programs"`
	}{Schema, found, []listed{}}
	for _, r := range sorted(rows, orders[0], false) {
		one := listed{PID: r.PID, Program: r.Program, Args: r.Args, Go: r.Go, Part: r.Part, State: r.State,
			Used: bytesOf(r.Used), Charge: bytesOf(r.Charge), Limit: bytesOf(r.Limit), Growth: figure(r.Growth), GC: figure(r.GC)}
		if r.Left.OK {
			seconds := r.Left.V.Seconds()
			one.Left = &seconds
		}
		out.Programs = append(out.Programs, one)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	return string(text) + "\n", err
}

func bytesOf(v sample.Opt[sample.Bytes]) *uint64 {
	if !v.OK {
		return nil
	}
	n := uint64(v.V)
	return &n
}

func figure(v sample.Opt[float64]) *float64 {
	if !v.OK {
		return nil
	}
	return &v.V
}
