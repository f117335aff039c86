package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Spool is a directory of rows that a store has still to take: what was seen while the
// store was away, slow or full. A file is one batch of one table, and is sent until the
// store has answered, then removed; so that nothing is lost, and what is sent twice the
// store has once.
//
// It keeps to its size: what is worth least goes first, old figures of the heap before old
// points. Incidents, processes and names of stacks are never dropped for room.
type Spool struct {
	dir  string
	most int64
	lock *os.File
	zip  *zstd.Encoder
	unz  *zstd.Decoder

	mu      sync.Mutex
	seq     uint64
	batches []batch // in order
	refused map[uint64]int
	stats   SpoolStats
	wake    chan struct{}
}

// batch is a file of the spool: SEQ.TABLE.rows, compressed by zstd with its checksum.
type batch struct {
	seq   uint64
	table *Table
	bytes int64
	since time.Time
}

func (b batch) name() string { return fmt.Sprintf("%020d.%s%s", b.seq, b.table.Name, batchSuffix) }

// SpoolStats says how a spool is doing.
type SpoolStats struct {
	Bytes   int64
	Batches int
	Oldest  time.Time         // since when something waits, zero: nothing does
	Sent    uint64            // batches
	Dropped map[string]uint64 // rows that there was no room for, by table
	Refused uint64            // batches that the store will never take, moved to refused/
	Torn    uint64            // files that were no batch, moved there too
}

const (
	batchSuffix = ".rows"
	refusedDir  = "refused"
	mostRefused = 64 << 20 // bytes of that directory
	refusals    = 3        // before a batch is given up
	mostBatch   = 64 << 20 // bytes of a batch, unpacked
)

// ErrInUse is that another agent has the spool.
var ErrInUse = errors.New("another agent uses this spool")

// leastFirst are the tables whose batches are dropped for room, what is worth least first.
var leastFirst = []*Table{HeapHours, Points}

// ErrSpoolFull is that a spool has no room for rows that it never drops.
var ErrSpoolFull = errors.New("the spool is full")

// OpenSpool opens a spool, which is made where it is not there; most is its size in bytes.
// It is for one agent: another gets an error.
func OpenSpool(dir string, most int64) (*Spool, error) {
	if err := os.MkdirAll(filepath.Join(dir, refusedDir), 0o700); err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	s := &Spool{dir: dir, most: most, refused: map[uint64]int{}, wake: make(chan struct{}, 1), stats: SpoolStats{Dropped: map[string]uint64{}}}
	var err error
	if s.lock, err = lock(dir); err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	if err = canWrite(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("open the spool: %w", err), s.lock.Close())
	}
	if s.zip, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10),
		zstd.WithEncoderCRC(true)); err != nil {
		return nil, err
	}
	if s.unz, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostBatch)); err != nil {
		return nil, err
	}
	return s, s.read()
}

// canWrite is the error of a directory that takes no file, and will not when there is room.
func canWrite(dir string) error {
	f, err := outfile.New(filepath.Join(dir, fmt.Sprintf(".highwater-%d.partial", os.Getpid())))
	if noRoom(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// read takes over what an earlier agent left.
func (s *Spool) read() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("open the spool: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if outfile.Partial(e.Name()) { // the agent was killed as it wrote
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
			continue
		}
		b, ok := batchOf(e.Name())
		if !ok {
			if strings.HasSuffix(e.Name(), batchSuffix) { // of another version: a table that is not known
				s.putAside(e.Name())
				s.stats.Torn++
			}
			continue
		}
		b.bytes, b.since = info.Size(), info.ModTime()
		s.batches = append(s.batches, b)
		s.stats.Bytes += b.bytes
		s.seq = max(s.seq, b.seq)
	}
	sorting.Stable(s.batches, func(a, b batch) int { return cmp.Compare(a.seq, b.seq) })
	return nil
}

func batchOf(name string) (b batch, ok bool) {
	text, found := strings.CutSuffix(name, batchSuffix)
	number, table, dotted := strings.Cut(text, ".")
	seq, err := strconv.ParseUint(number, 10, 64)
	b = batch{seq: seq, table: TableOf(table)}
	return b, found && dotted && err == nil && b.table != nil
}

// Close gives back what the spool holds in memory. Its files stay.
func (s *Spool) Close() error {
	s.unz.Close()
	return errors.Join(s.zip.Close(), s.lock.Close())
}

// Put keeps rows of a table until a store has them.
func (s *Spool) Put(t *Table, rows []byte) error {
	if len(rows) == 0 {
		return nil
	}
	packed := s.zip.EncodeAll(rows, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room(int64(len(packed)), t) {
		n, err := t.Count(rows)
		s.stats.Dropped[t.Name] += uint64(n)
		return errors.Join(fmt.Errorf("keep rows of %s: %w", t.Name, ErrSpoolFull), err)
	}
	s.seq++
	b := batch{seq: s.seq, table: t, bytes: int64(len(packed)), since: time.Now()}
	err := s.write(b, packed)
	for noRoom(err) && !slices.Contains(leastFirst, t) && s.dropOne(t) { // others fill the disk
		err = s.write(b, packed)
	}
	if err != nil {
		n, _ := t.Count(rows) // they were encoded here
		s.stats.Dropped[t.Name] += uint64(n)
		return fmt.Errorf("keep rows of %s: %w", t.Name, err)
	}
	s.batches = append(s.batches, b)
	s.stats.Bytes += b.bytes
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

func (s *Spool) write(b batch, packed []byte) error {
	return outfile.Write(filepath.Join(s.dir, b.name()), func(w io.Writer) error {
		_, err := w.Write(packed)
		return err
	})
}

// noRoom says that a disk is full, or what its user may have of it.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// room drops what is worth less than rows of t until n bytes fit.
func (s *Spool) room(n int64, t *Table) bool {
	for s.stats.Bytes+n > s.most {
		if !s.dropOne(t) {
			return !slices.Contains(leastFirst, t) && s.stats.Bytes+n <= 2*s.most // incidents are few and small
		}
	}
	return true
}

// dropOne drops the oldest batch of what is worth least, and no more than t. It says whether there was one.
func (s *Spool) dropOne(t *Table) bool {
	for _, least := range leastFirst {
		for i, b := range s.batches {
			if b.table != least {
				continue
			}
			rows, err := s.load(b)
			if err == nil {
				n, _ := least.Count(rows)
				s.stats.Dropped[least.Name] += uint64(n)
			}
			s.remove(i)
			return true
		}
		if t == least {
			return false
		}
	}
	return false
}

// remove takes a batch out of the spool.
func (s *Spool) remove(i int) {
	b := s.batches[i]
	_ = os.Remove(filepath.Join(s.dir, b.name())) // what stays is sent again, which changes nothing
	s.stats.Bytes -= b.bytes
	delete(s.refused, b.seq)
	s.batches = slices.Delete(s.batches, i, i+1)
}

// load reads a batch's rows.
func (s *Spool) load(b batch) ([]byte, error) {
	f, err := regular.Open(filepath.Join(s.dir, b.name()))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	packed, err := io.ReadAll(io.LimitReader(f, mostBatch))
	if err != nil {
		return nil, err
	}
	rows, err := s.unz.DecodeAll(packed, nil)
	if err == nil {
		_, err = b.table.Count(rows)
	}
	if err != nil {
		return nil, errors.Join(ErrRows, err)
	}
	return rows, nil
}

// putAside moves a file that no store takes to refused/, which keeps to its size.
func (s *Spool) putAside(name string) {
	from, to := filepath.Join(s.dir, name), filepath.Join(s.dir, refusedDir, name)
	info, err := os.Lstat(from)
	if err == nil && dirSize(filepath.Dir(to))+info.Size() <= mostRefused {
		if b, err := os.ReadFile(from); err == nil {
			_ = outfile.Write(to, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(b)); return err }) // it is counted
		}
	}
	_ = os.Remove(from) // kept there, or there is no room for it anywhere
}

func dirSize(dir string) (sum int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// Stats says how the spool is doing now.
func (s *Spool) Stats() SpoolStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Batches = len(s.batches)
	stats.Dropped = map[string]uint64{}
	for name, n := range s.stats.Dropped {
		stats.Dropped[name] = n
	}
	if len(s.batches) > 0 {
		stats.Oldest = s.batches[0].since
	}
	return stats
}

// Drain sends what waits, in order, until nothing does or the store does not take it. An
// error is of the store: what is left is for the next call.
func (s *Spool) Drain(ctx context.Context, store Store) error {
	for {
		s.mu.Lock()
		if len(s.batches) == 0 {
			s.mu.Unlock()
			return nil
		}
		b := s.batches[0]
		rows, err := s.load(b)
		s.mu.Unlock()
		switch {
		case errors.Is(err, fs.ErrNotExist): // dropped, or somebody tidied up
			s.done(b, "")
			continue
		case errors.Is(err, ErrRows):
			s.done(b, "torn")
			continue
		case err != nil:
			return fmt.Errorf("read the spool: %w", err)
		}
		err = store.Put(ctx, b.table, rows)
		switch {
		case err == nil:
			s.done(b, "sent")
		case errors.Is(err, ErrRefused) && (s.again(b) || !well(ctx, store)):
			return err
		case errors.Is(err, ErrRefused):
			s.done(b, "refused")
		default:
			return err
		}
	}
}

// again says whether a batch that was refused is worth another try: what a store refuses
// for a while may be of its own making, as a table that is not there yet.
func (s *Spool) again(b batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[b.seq]++
	return s.refused[b.seq] < refusals
}

// well says that a store takes rows, if not those that it refused: then these are at fault, and
// not a server that somebody set up wrongly, for which all would be given up one by one.
func well(ctx context.Context, store Store) bool {
	_, err := store.Check(ctx)
	return err == nil
}

// done takes a batch out, for what it came to.
func (s *Spool) done(b batch, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch how {
	case "sent":
		s.stats.Sent++
	case "refused":
		s.stats.Refused++
		s.putAside(b.name())
	case "torn":
		s.stats.Torn++
		s.putAside(b.name())
	}
	if i := slices.IndexFunc(s.batches, func(one batch) bool { return one.seq == b.seq }); i >= 0 {
		s.remove(i)
	}
}

// Waits between tries to reach a store.
const (
	firstWait = time.Second
	mostWait  = time.Minute
)

// Send sends what comes until ctx ends. tell is told of what goes wrong, once a minute at
// most, and of nil when it is well again.
func (s *Spool) Send(ctx context.Context, store Store, tell func(error)) {
	wait, failed := firstWait, false
	var told time.Time
	for {
		err := s.Drain(ctx, store)
		pause := time.NewTimer(mostWait)
		switch {
		case ctx.Err() != nil:
			pause.Stop()
			return
		case err != nil:
			if time.Since(told) >= time.Minute {
				tell(err)
				told = time.Now()
			}
			failed = true
			pause.Reset(wait/2 + rand.N(wait))
			wait = min(2*wait, mostWait)
			select {
			case <-ctx.Done():
			case <-pause.C:
			}
		default:
			if failed {
				tell(nil)
			}
			failed, wait, told = false, firstWait, time.Time{}
			select {
			case <-ctx.Done():
			case <-s.wake:
			case <-pause.C:
			}
		}
		pause.Stop()
	}
}
