// Package perfetto writes a recording as a trace that ui.perfetto.dev opens: counters of the cgroup and
// of each process, and slices of stops, loads and GC pauses. It has no profiles; those are pprof's matter.
package perfetto

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Numbers of fields and values, as perfetto/protos/perfetto/trace has them (perfetto 59).
const (
	tracePacket = 1

	packetTime, packetSequence, packetFlags             = 8, 10, 13
	packetClocks, packetEvent, packetTrack              = 6, 11, 60
	trackUUID, trackName, trackProcess                  = 1, 2, 3
	trackParent, trackCounter                           = 5, 8
	processPID, processName                             = 1, 6
	counterUnit                                         = 3
	unitCount, unitBytes                                = 2, 3
	eventType, eventTrack, eventName, eventValue        = 9, 11, 23, 30
	eventNote                                           = 4
	noteName, noteInt                                   = 10, 4
	sliceBegin, sliceEnd, instant, counter              = 1, 2, 3, 4
	clockBoot, clockReal                                = 6, 1
	sequence, flagCleared                        uint64 = 1, 1
)

// message is a protobuf message on its way.
type message []byte

func (m *message) number(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

// gauge is a counter's track.
type gauge struct {
	name string
	unit uint64
}

// Tracks of the cgroup and of a process, in the order in which they are shown.
var (
	ofCgroup = []gauge{{"memory usage", unitBytes}, {"limit", unitBytes}, {"anonymous", unitBytes}, {"page cache", unitBytes}, {"shared memory", unitBytes},
		{"kernel", unitBytes}}
	ofProcess = []gauge{{"RSS", unitBytes}, {"heap, live and allocated since", unitBytes}, {"GC target", unitBytes}, {"heap in use", unitBytes},
		{"stacks", unitBytes}, {"goroutines", unitCount}}
)

// UUIDs of tracks: the cgroup's, then a block for each process, whose first is its own.
const (
	cgroupTrack = 1
	block       = 64
)

// trace is a file on its way.
type trace struct {
	out   *bufio.Writer
	begun bool
	err   error
	last  map[uint64]uint64            // value of each counter
	track map[sample.ProcessKey]uint64 // of each process that has one
}

// Write writes the trace of a recording.
func Write(w io.Writer, r *recording.Reader) error {
	t := &trace{out: bufio.NewWriter(w), last: map[uint64]uint64{}, track: map[sample.ProcessKey]uint64{}}
	programs, err := r.Programs()
	if err != nil {
		return err
	}
	meta, err := r.Meta()
	if err != nil {
		return err
	}
	t.clocks(meta.At)
	t.describe(cgroupTrack, "memory", nil, ofCgroup)
	for _, p := range programs {
		if _, known := t.track[p.Key]; !known {
			t.track[p.Key] = uint64(len(t.track)+1) * block
			t.describe(t.track[p.Key], "", &p, ofProcess)
		}
	}
	if err := r.Points(func(p *sample.Point) error { t.point(p); return t.err }); err != nil {
		return err
	}
	for key := range t.track {
		if err := t.cycles(r, key); err != nil {
			return err
		}
	}
	if err := t.events(r); err != nil {
		return err
	}
	if t.err != nil {
		return t.err
	}
	return t.out.Flush()
}

// packet writes one packet of the trace.
func (t *trace) packet(at time.Time, fill func(*message)) {
	var p message
	if !at.IsZero() {
		p.number(packetTime, uint64(at.UnixNano()))
	}
	p.number(packetSequence, sequence)
	if !t.begun {
		p.number(packetFlags, flagCleared)
		t.begun = true
	}
	fill(&p)
	var m message
	m.bytes(tracePacket, p)
	if _, err := t.out.Write(m); err != nil && t.err == nil {
		t.err = err
	}
}

// clocks says that the trace's times, which are taken for those since the boot, are those of the day.
func (t *trace) clocks(at time.Time) {
	t.packet(at, func(p *message) {
		var all message
		for _, id := range []uint64{clockBoot, clockReal} {
			var c message
			c.number(1, id)
			c.number(2, uint64(at.UnixNano()))
			all.bytes(1, c)
		}
		p.bytes(packetClocks, all)
	})
}

// describe writes a track and those of its counters.
func (t *trace) describe(id uint64, name string, of *sample.Program, gauges []gauge) {
	t.packet(time.Time{}, func(p *message) {
		var track message
		track.number(trackUUID, id)
		if of != nil {
			var process message
			process.number(processPID, uint64(of.Key.PID))
			process.text(processName, of.Name)
			track.bytes(trackProcess, process)
		} else {
			track.text(trackName, name)
		}
		p.bytes(packetTrack, track)
	})
	for i, g := range gauges {
		t.packet(time.Time{}, func(p *message) {
			var track, c message
			c.number(counterUnit, g.unit)
			track.number(trackUUID, id+1+uint64(i))
			track.text(trackName, g.name)
			track.number(trackParent, id)
			track.bytes(trackCounter, c)
			p.bytes(packetTrack, track)
		})
	}
}

// count writes a counter's value, where it is another than before.
func (t *trace) count(at time.Time, track, v uint64) {
	if last, known := t.last[track]; known && last == v {
		return
	}
	t.last[track] = v
	t.event(at, counter, track, func(e *message) { e.number(eventValue, v) })
}

func (t *trace) event(at time.Time, kind, track uint64, fill func(*message)) {
	t.packet(at, func(p *message) {
		var e message
		e.number(eventType, kind)
		e.number(eventTrack, track)
		if fill != nil {
			fill(&e)
		}
		p.bytes(packetEvent, e)
	})
}

// slice writes something that lasted.
func (t *trace) slice(from, to time.Time, track uint64, name string, notes func(*message)) {
	t.event(from, sliceBegin, track, func(e *message) {
		e.text(eventName, name)
		if notes != nil {
			notes(e)
		}
	})
	t.event(to, sliceEnd, track, nil)
}

func note(e *message, name string, v uint64) {
	var n message
	n.text(noteName, name)
	n.number(noteInt, v)
	e.bytes(eventNote, n)
}

// point writes the counters of an instant; what was not seen has no value.
func (t *trace) point(p *sample.Point) {
	if c := p.Cgroup; c != nil {
		t.count(p.At, cgroupTrack+1, uint64(c.Usage))
		if c.Limit.OK {
			t.count(p.At, cgroupTrack+2, uint64(c.Limit.V))
		}
		if s := c.Stat; s != nil {
			for i, v := range []sample.Bytes{s.Anon, s.PageCache, s.Shmem, s.Kernel} {
				t.count(p.At, cgroupTrack+3+uint64(i), uint64(v))
			}
		}
	}
	for i := range p.Processes {
		of := &p.Processes[i]
		track, known := t.track[of.Key]
		if !known {
			continue
		}
		if of.Resident != nil {
			t.count(p.At, track+1, uint64(of.Resident.Total))
		}
		if g := of.Go; g != nil {
			for i, v := range []uint64{uint64(g.HeapLive), uint64(g.HeapGoal), uint64(g.HeapInUse), uint64(g.StackInUse), uint64(g.Goroutines)} {
				t.count(p.At, track+2+uint64(i), v)
			}
		}
	}
}

// cycles writes the pauses of GC, each before the instant at which its cycle ended.
func (t *trace) cycles(r *recording.Reader, key sample.ProcessKey) error {
	list, err := r.Cycles(key)
	for _, c := range list {
		t.slice(c.At.Add(-c.Pause), c.At, t.track[key], fmt.Sprintf("GC %d: pauses", c.N), func(e *message) {
			note(e, "live bytes", uint64(c.Marked))
			note(e, "GC target bytes", uint64(c.Goal))
		})
	}
	return err
}

// events writes what happened. A load and a stop are slices, all else is an instant.
func (t *trace) events(r *recording.Reader) error {
	list, err := r.Events()
	if err != nil {
		return err
	}
	for _, e := range list {
		track, known := t.track[e.Process]
		if !known {
			track = cgroupTrack
		}
		switch e.Kind {
		case sample.EventStop:
			t.slice(e.At, e.At.Add(time.Duration(e.Value)), track, "held by highwater", nil)
		case sample.EventLoadStart:
			t.event(e.At, sliceBegin, cgroupTrack, func(m *message) { m.text(eventName, "load") })
		case sample.EventLoadEnd:
			t.event(e.At, sliceEnd, cgroupTrack, nil)
		case sample.EventNote:
			t.instant(e.At, track, "note")
		default:
			t.instant(e.At, track, string(e.Kind))
		}
	}
	moments, err := r.Moments()
	for _, m := range moments {
		t.instant(m.At, cgroupTrack, "moment: "+string(m.Kind))
	}
	return err
}

func (t *trace) instant(at time.Time, track uint64, name string) {
	t.event(at, instant, track, func(e *message) { e.text(eventName, name) })
}
