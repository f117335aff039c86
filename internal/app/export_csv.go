package app

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// writeCSV writes a line for each process of each point, or one line of a point
// without processes. What was not seen is empty.
func writeCSV(w io.Writer, r *recording.Reader) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	err := r.Points(func(p *sample.Point) error {
		common := append([]string{strconv.FormatInt(p.At.UnixNano(), 10), ""}, chargeColumns(p.Cgroup)...)
		if len(p.Processes) == 0 {
			return out.Write(append(common, make([]string, len(csvHeader)-len(common))...))
		}
		for i := range p.Processes {
			row := append([]string(nil), common...)
			row[1] = strconv.Itoa(p.Processes[i].Key.PID)
			if err := out.Write(append(row, processColumns(&p.Processes[i])...)); err != nil {
				return err
			}
		}
		return nil
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

func chargeColumns(c *sample.Cgroup) []string {
	cols := make([]string, 6)
	if c == nil {
		return cols
	}
	cols[0] = number(c.Usage)
	if c.Limit.OK {
		cols[1] = number(c.Limit.V)
	}
	if s := c.Stat; s != nil {
		cols[2], cols[3], cols[4], cols[5] = number(s.Anon), number(s.PageCache), number(s.Shmem), number(s.Kernel)
	}
	return cols
}

func processColumns(p *sample.Process) []string {
	cols := make([]string, 8)
	if p.Resident != nil {
		cols[0] = number(p.Resident.Total)
	}
	if g := p.Go; g != nil {
		for i, v := range []sample.Bytes{g.HeapLive, g.HeapMarked, g.HeapGoal, g.HeapInUse, g.StackInUse} {
			cols[1+i] = number(v)
		}
		cols[6], cols[7] = strconv.FormatUint(uint64(g.NumGC), 10), strconv.Itoa(g.Goroutines)
	}
	return cols
}

func number(b sample.Bytes) string { return strconv.FormatUint(uint64(b), 10) }
