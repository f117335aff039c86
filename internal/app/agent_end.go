package app

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// end explains a watch that is over, and keeps the recording of an incident. Of a program
// that runs on, where the agent ends, it is kept where it was close to its limit: it may die
// before the next agent has found it.
func (a *agent) end(l *life) {
	l.rows.Close()
	if l.recording.writer == nil { // the program rested and goes on, or no recording could be made
		a.endOfRest(l)
		return
	}
	select {
	case <-l.source.Done():
	default:
		if l.rows.OfLimit() < fleet.NearLimit {
			_ = l.recording.writer.Close() // and removed
			a.drop(l.recording.path)
			return
		}
		a.status.say("%s is close to its limit as this agent ends: its recording is kept for the next agent", l.name)
		_ = l.recording.writer.Close() // what was written can be read
		return
	}
	answer := l.recording.conclude(l.streams)
	if answer == nil { // which was said
		a.report(l, fleet.Died(time.Now(), l.name+" ended; its recording could not be explained."))
		return
	}
	in, ok := fleet.IncidentOf(answer)
	if !ok {
		a.drop(l.recording.path)
		return
	}
	a.report(l, in)
}

// report sends the incident of a watch.
func (a *agent) report(l *life, in fleet.Incident) {
	in.Process = l.rows.main
	if in.Kind == fleet.KindKill {
		a.kills.Told(l.rows.group)
	}
	fleet.Whose{}.Forget(l.recording.path)
	a.publish(in, l.rows.who, l.recording.path)
}

// publish sends an incident and says it. path is its recording, "" for none.
func (a *agent) publish(in fleet.Incident, who fleet.Identity, path string) fleet.Incident {
	var profile []byte
	if path != "" {
		if a.outlets.wantsProfiles {
			profile = pprofOf(path)
		}
		if !a.worth(who.Service, in.Fingerprint) {
			a.drop(path)
			path = ""
		}
	}
	if path != "" && a.uploads == nil {
		in.Recording, in.RecordingBytes = fileURL(path), sizeOf(path)
	}
	in = a.collector.Incident(in, who)
	a.outlets.Tell(in, who, profile)
	if path != "" && a.uploads != nil {
		if err := a.uploads.Add(in, path); err != nil {
			a.status.say("highwater: %v", err)
		}
	} else if path != "" {
		a.boundRecordings()
	}
	a.status.say("incident %s of %s: %s", in.Incident.String()[:12], in.Service, in.Sentence)
	return in
}

func fileURL(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func sizeOf(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return uint64(info.Size())
}

// pprofOf is the heap profile of a recording's moment, nil where it has none.
func pprofOf(path string) []byte {
	r, err := recording.Open(path)
	if err != nil {
		return nil
	}
	defer r.Close()
	var b bytes.Buffer
	if (ExportFlags{Format: "pprof"}).writePprof(&b, r, path, "") != nil {
		return nil
	}
	return b.Bytes()
}

// Of one cause of a service, so many recordings an hour are kept: of a container that
// restarts all the time, each further one says the same, and its row alone is sent.
const (
	keptOfCause = 3
	mostCauses  = 10_000
)

// causeKept is a cause whose recordings are counted. Services share lines, of a library for
// example, and each has its own recordings.
type causeKept struct{ service, fingerprint string }

// worth says whether one more recording of a cause is to be kept.
func (a *agent) worth(service, fingerprint string) bool {
	if fingerprint == "" {
		return true
	}
	cause := causeKept{service, fingerprint}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) > mostCauses {
		a.kept = map[causeKept][]time.Time{}
	}
	hour := time.Now().Add(-time.Hour)
	times := slices.DeleteFunc(a.kept[cause], func(t time.Time) bool { return t.Before(hour) })
	keep := len(times) < keptOfCause
	if keep {
		times = append(times, time.Now())
	}
	a.kept[cause] = times
	return keep
}

// boundRecordings removes the oldest recordings of incidents where all take more than they
// may. Those that are being written stay.
func (a *agent) boundRecordings() {
	type kept struct {
		path  string
		bytes int64
		since time.Time
	}
	var all []kept
	sum := int64(0)
	paths, _ := filepath.Glob(filepath.Join(a.flags.recordingsDir(), "*"+Suffix))
	for _, path := range paths {
		if _, err := os.Lstat(path + ".whose"); err == nil {
			continue
		}
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			all = append(all, kept{path, info.Size(), info.ModTime()})
			sum += info.Size()
		}
	}
	sorting.Stable(all, func(a, b kept) int { return a.since.Compare(b.since) })
	for len(all) > 1 && sum > a.flags.recordingsMost {
		a.drop(all[0].path)
		sum, all = sum-all[0].bytes, all[1:]
	}
}

// drop removes a recording of which nothing will be asked.
func (a *agent) drop(path string) {
	fleet.Whose{}.Forget(path)
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return
	}
	defer dir.Close()
	_ = recording.Remove(dir, filepath.Base(path)) // a file more
}

// recover tells what an earlier agent left: recordings that it was writing when it was
// killed, or that it kept as it ended. What is in them is an incident, or nothing; where the
// kernel has counted a kill since, countKills tells that with them.
func (a *agent) recover(ctx context.Context) {
	for path, w := range fleet.LeftBehind(a.flags.recordingsDir()) {
		if ctx.Err() != nil {
			return
		}
		t := recordingHandle{path: path, status: a.status, quiet: true}
		answer, err := t.bounded()
		if err != nil {
			a.drop(path)
			continue
		}
		if in, ok := fleet.IncidentOf(answer); ok {
			in.Process = w.Process
			if in.At.IsZero() {
				in.At = time.Now()
			}
			if in.Kind == fleet.KindKill {
				a.kills.Told(w.Group)
			}
			fleet.Whose{}.Forget(path)
			a.publish(in, w.Identity, path)
			continue
		}
		a.mu.Lock()
		a.leftBehind[w.Group] = leftRecording{path, w, answer}
		a.mu.Unlock()
	}
}

// keepWhose keeps beside a recording whose it is, once there is one.
func (a *agent) keepWhose(l *life, one *agentLife) {
	if l.recording.path == "" {
		return
	}
	if err := (fleet.Whose{Identity: one.who, Process: one.main, Group: one.group}).Keep(l.recording.path); err != nil {
		a.status.say("highwater: %v", err)
	}
}

// groupName names a cgroup for people.
func groupName(who fleet.Identity, path string) string {
	switch {
	case who.Pod != "":
		return strings.TrimPrefix(who.Container+" of pod "+who.Namespace+"/"+who.Pod, " of ")
	case who.Service != "":
		return who.Service
	}
	return "cgroup " + path
}
