package explain

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// The last 24 of 2,000 threads add a hundredth to the memory: they are in the moment of the program's end alone. What
// came when a fifth of the memory was gone is another time.
func TestThreadsAreThoseOfTheLastMomentNearThePeak(t *testing.T) {
	for atEnd, want := range map[sample.Bytes]int{100_900: 2000, 101_000: 2000, 80_000: 1976} {
		path := filepath.Join(t.TempDir(), "threads-1.hwm")
		w, err := recording.Create(path, recording.Meta{At: began})
		put := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		put(err)
		put(w.Program(sample.Program{Key: subject, Name: "pool", Go: &sample.GoProgram{Module: "example.org/pool"}}))
		moment := func(second int, kind sample.MomentKind, usage sample.Bytes, threads int) *sample.Moment {
			return &sample.Moment{At: began.Add(time.Duration(second) * time.Second), Kind: kind,
				Cgroup: &sample.Cgroup{Usage: usage << 10, Limit: sample.Some(512 * mib), Stat: &sample.CgroupStat{}},
				Processes: []sample.ProcessMoment{{Key: subject, Resident: &sample.Resident{Total: usage << 10, Threads: threads + 5},
					ThreadStarts: []sample.ThreadStart{{Func: "poolWorker", Module: "pool", Count: threads}}}}}
		}
		put(w.Moment(moment(1, sample.MomentMax, 50_000, 900)))
		put(w.Moment(moment(2, sample.MomentMax, 100_000, 1976)))
		end := moment(9, sample.MomentDeath, atEnd, 2000)
		end.Processes[0].ExitCode = sample.Some(0)
		put(w.Moment(end))
		put(w.Close())
		e, err := load(t, path, "")
		if err != nil {
			t.Fatal(err)
		}
		p := e.process()
		if e.At != "peak" || !e.Moment.At.Equal(began.Add(2*time.Second)) || threadsIn(p.ThreadStarts) != want || p.Resident.Threads != want+5 {
			t.Errorf("%d at the end: moment %v, %v, %+v", atEnd, e.At, e.Moment.At, p)
		}
	}
}
