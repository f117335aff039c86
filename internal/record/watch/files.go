package watch

import (
	"time"

	"github.com/highwater-go/highwater/internal/eyes/filepages"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// files is what a watch knows of the files behind page cache and shared memory.
type files struct {
	looker filepages.Looker
	at     time.Time    // of the last look; zero: there was none
	memory sample.Bytes // page cache and shared memory then
	next   time.Time    // before which no look is due where many children were started
}

const (
	// filesLive bounds a look while the programs run; nothing waits for it but the loop.
	filesLive = 200 * time.Millisecond
	// filesDead bounds it at the end of a program, and so does a quarter of what is left then.
	filesDead = 150 * time.Millisecond
	// filesLeast is from which page cache and shared memory on files are looked for.
	filesLeast = sample.MiB
	// filesAgain is after which time they are looked for again though both have hardly moved.
	filesAgain = 10 * time.Second
	// filesShare is the part of the time, one in so many, for looks where many children were started.
	filesShare = 200
	// filesFlurry bounds a look then.
	filesFlurry = 20 * time.Millisecond
)

// isDue says whether a look is worth its cost: where there is much memory of files, and that has moved by an
// eighth since the last look, or it is long ago.
func (f *files) isDue(c *sample.Cgroup, last bool) bool {
	if c == nil || c.Stat == nil {
		return false
	}
	now := c.Stat.PageCache + c.Stat.Shmem
	moved := max(now, f.memory) - min(now, f.memory)
	if now < filesLeast || !last && !f.at.IsZero() && moved < max(filesLeast, f.memory/8) && time.Since(f.at) < filesAgain {
		return false
	}
	f.at, f.memory = time.Now(), now
	return true
}

// takeFiles looks at the files of programs that run, nil where that is not due. The caller does not hold the lock,
// and nobody waits for it.
func (s *Source) takeFiles(c *sample.Cgroup, procs []*process) *sample.Files {
	s.mu.Lock()
	if s.spareFiles() || !s.files.isDue(c, false) {
		s.mu.Unlock()
		return nil
	}
	r := s.filesOf(c, time.Now().Add(filesLive))
	for _, p := range procs {
		if s.running(p) {
			r.Processes = append(r.Processes, filepages.Process{Key: p.key, TID: p.readTID, Mapped: p.mapped})
		}
	}
	s.mu.Unlock()
	found := s.look(r)
	if isCutShort(found, c.Stat.PageCache+c.Stat.Shmem) { // the machine was busy: the next moment looks again
		s.mu.Lock()
		s.files.at = time.Time{}
		s.mu.Unlock()
	}
	return found
}

// isCutShort says whether a look had no time left before it had found half of the memory of files. Files that may not be
// looked at will not be found by another look.
func isCutShort(f *sample.Files, memory sample.Bytes) bool {
	found := f.OtherCacheBytes + f.OtherShmemBytes
	for i := range f.List {
		found += f.List[i].Claim()
	}
	return f.Unread > 0 && (len(f.List) == 0 || f.Took >= filesLive*3/4) && found < memory/2
}

// filesAtEnd looks at the files of a program at its end and of those that live on. The caller holds the lock.
func (s *Source) filesAtEnd(c *sample.Cgroup, p *process, tid int, others []beside, deadline time.Time) *sample.Files {
	if s.spareFiles() || !s.files.isDue(c, p.key.PID == s.main) {
		return nil
	}
	until := time.Now().Add(filesDead)
	if quarter := time.Now().Add(time.Until(deadline) / 4); !deadline.IsZero() && quarter.Before(until) {
		until = quarter
	}
	r := s.filesOf(c, until)
	r.Processes = []filepages.Process{{Key: p.key, TID: tid, Mapped: p.mapped}}
	for _, b := range others {
		r.Processes = append(r.Processes, filepages.Process{Key: b.key, TID: b.readTID, Mapped: b.mapped})
	}
	return s.look(r)
}

// spareFiles says that many children were started, and that the last look took its share of the time. What it found holds
// until the next.
func (s *Source) spareFiles() bool {
	now := time.Now()
	return now.Before(s.files.next) && (s.flurry.lasts(now) || s.wellEnded.many())
}

// look looks at the files, and notes when the next look is due at the earliest.
func (s *Source) look(r filepages.Request) *sample.Files {
	if until := time.Now().Add(filesFlurry); s.StartsMany() && until.Before(r.Until) {
		r.Until = until
	}
	found := s.files.looker.Look(r)
	s.files.next = time.Now().Add(filesShare * found.Took)
	return found
}

// filesOf is what is asked of a look.
func (s *Source) filesOf(c *sample.Cgroup, until time.Time) filepages.Request {
	return filepages.Request{Root: s.opts.Root, PageCache: c.Stat.PageCache, Shmem: c.Stat.Shmem, Cgroup: s.account.group.Dir, Until: until}
}
