package recording

import "github.com/highwater-go/highwater/internal/words/sample"

// keyEvery is how many profiles of a process share a key frame. Each is written
// against its key frame alone, so that reading any profile reads two at most.
const keyEvery = 60

// keptCounts bounds what a Writer keeps of key frames, over all processes: 8 MiB.
// A process whose frame was given up gets a new one with its next profile.
const keptCounts = 8 << 20 / 32

// keyFrame is what the next heap profile of a process is written against.
type keyFrame struct {
	counts []sample.BucketCounts // nil: none, or given up
	id     int64
	shared int // profiles written with it, its own among them
}

// usable says whether one more profile may be written against it.
func (k *keyFrame) usable() bool { return k.id != 0 && k.shared < keyEvery }

// keep makes the process's last profile its key frame, and gives up those of the
// processes that wrote one longest ago, dead or not, while there are too many.
func (w *Writer) keep(s *processState, id int64, counts []sample.BucketCounts) {
	w.giveUp(s)
	s.frame = keyFrame{append(make([]sample.BucketCounts, 0, len(counts)), counts...), id, 1}
	w.framed = append(w.framed, s)
	w.kept += len(counts)
	for w.kept > w.keepMost && w.framed[0] != s {
		w.giveUp(w.framed[0])
	}
}

// giveUp forgets a key frame.
func (w *Writer) giveUp(s *processState) {
	for i, one := range w.framed {
		if one == s {
			w.framed = append(w.framed[:i], w.framed[i+1:]...)
			w.kept -= len(s.frame.counts)
			s.frame = keyFrame{}
			return
		}
	}
}
