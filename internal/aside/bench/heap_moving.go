package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
)

// heapMoving asks for the heap of a program that changes it all the time, with and
// without a stop, in turns: how far what is read of no one instant is off.
func heapMoving(r *room) (row, error) {
	const objects = 1_200_000
	p, err := start(r.target, "-do", "change", "-objects", strconv.Itoa(objects))
	if err != nil {
		return row{}, err
	}
	defer p.stop()
	if _, err := p.line("heap"); err != nil {
		return row{}, err
	}
	var stopped, moving []float64
	for range r.least(20) {
		for _, way := range []struct {
			flag string
			to   *[]float64
		}{{"--max-stop=1m", &stopped}, {"--no-stop", &moving}} {
			live, err := liveBytes(r.tool, p.pid(), way.flag)
			if err != nil {
				return row{}, err
			}
			*way.to = append(*way.to, live)
		}
	}
	whole := median(stopped)
	off := func(all []float64) (each []float64) {
		for _, live := range all {
			each = append(each, 100*math.Abs(live/whole-1))
		}
		slices.Sort(each)
		return each
	}
	still, live := off(stopped), off(moving)
	n := len(live)
	return row{
		What: "`heap --no-stop` of a program that replaces its cache at full speed: live bytes off by", Figure: fmt.Sprintf("%.1f %%", live[n/2]), Pass: true,
		More: fmt.Sprintf("median of %d, worst %.1f %%; with a stop %.1f %%, worst %.1f %%", n, live[n-1], still[n/2], still[n-1]),
	}, nil
}

// liveBytes is what heap says is reachable.
func liveBytes(tool string, pid int, flag string) (float64, error) {
	text, err := exec.Command(tool, "heap", strconv.Itoa(pid), "--json", flag).Output()
	if err != nil {
		return 0, fmt.Errorf("heap %s: %w", flag, err)
	}
	var ans struct {
		Live float64 `json:"live_bytes"`
	}
	return ans.Live, json.Unmarshal(text, &ans)
}
