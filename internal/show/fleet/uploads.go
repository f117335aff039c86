package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Uploads is a directory of recordings that wait for a bucket. A recording lies there with
// the row of its incident beside it, NAME.hwm and NAME.hwm.incident, until the bucket has
// it; then the row is sent again, with where the recording is. It keeps to its size: of
// too many the oldest goes first. Its row stays, and says all but the recording.
type Uploads struct {
	dir    string
	most   int64
	bucket *Bucket
	row    func(Incident) // sends it

	mu    sync.Mutex
	stats UploadStats
	wake  chan struct{}
}

// UploadStats says how the uploads are doing.
type UploadStats struct {
	Waiting int
	Bytes   int64
	Sent    uint64
	Dropped uint64 // that there was no room for, or that the bucket will never take
}

const sidecar = ".incident"

// NewUploads waits with recordings in dir, most bytes of them.
func NewUploads(dir string, most int64, bucket *Bucket, row func(Incident)) *Uploads {
	return &Uploads{dir: dir, most: most, bucket: bucket, row: row, wake: make(chan struct{}, 1)}
}

// Add has the recording of an incident sent, which lies in the directory.
func (u *Uploads) Add(in Incident, recording string) error {
	err := outfile.Write(recording+sidecar, func(w io.Writer) error {
		_, err := w.Write(Encode(nil, in))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep a recording for the bucket: %w", err)
	}
	u.bound()
	select {
	case u.wake <- struct{}{}:
	default:
	}
	return nil
}

// upload is one that waits.
type upload struct {
	path  string // of the recording
	bytes int64
	since time.Time
}

// waiting are those that wait, the oldest first.
func (u *Uploads) waiting() (list []upload) {
	entries, _ := os.ReadDir(u.dir) // what cannot be listed cannot be sent: the next time
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), sidecar)
		if !ok {
			continue
		}
		info, err := os.Lstat(filepath.Join(u.dir, name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		list = append(list, upload{filepath.Join(u.dir, name), info.Size(), info.ModTime()})
	}
	sorting.Stable(list, func(a, b upload) int { return a.since.Compare(b.since) })
	return list
}

// bound drops the oldest until the others have room, and counts.
func (u *Uploads) bound() {
	list := u.waiting()
	sum := int64(0)
	for _, one := range list {
		sum += one.bytes
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(list) > 1 && sum > u.most {
		sum -= list[0].bytes
		u.drop(list[0].path)
		list = list[1:]
	}
	u.stats.Waiting, u.stats.Bytes = len(list), sum
}

func (u *Uploads) drop(path string) {
	u.stats.Dropped++
	forget(path)
}

// forget removes a recording with what lies beside it.
func forget(path string) {
	for _, end := range []string{"", "-wal", "-shm", "-journal", sidecar} {
		_ = os.Remove(path + end) // the sidecar last: what stays is sent again
	}
}

// Stats says how the uploads are doing now.
func (u *Uploads) Stats() UploadStats {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stats
}

// Drain sends what waits, until nothing does or the bucket does not take it.
func (u *Uploads) Drain(ctx context.Context) error {
	defer u.bound()
	for _, one := range u.waiting() {
		switch err := u.one(ctx, one.path); {
		case errors.Is(err, ErrRefused), errors.Is(err, ErrRows), errors.Is(err, fs.ErrNotExist):
			u.mu.Lock()
			u.drop(one.path)
			u.mu.Unlock()
		case err != nil:
			return err
		}
	}
	return nil
}

// one sends one recording, and its row again.
func (u *Uploads) one(ctx context.Context, path string) error {
	in, err := incidentBeside(path)
	if err != nil {
		return err
	}
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	key := RecordingKey(in)
	if err := u.bucket.Put(ctx, key, f); err != nil {
		return err
	}
	in.Recording, in.RecordingBytes = u.bucket.Address(key), uint64(info.Size())
	if now := time.Now(); now.After(in.Written) {
		in.Written = now
	}
	u.row(in)
	forget(path)
	u.mu.Lock()
	u.stats.Sent++
	u.mu.Unlock()
	return nil
}

func incidentBeside(path string) (Incident, error) {
	f, err := regular.Open(path + sidecar)
	if err != nil {
		return Incident{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostString))
	if err != nil {
		return Incident{}, err
	}
	rows, err := Decode[Incident](b)
	if err == nil && len(rows) != 1 {
		err = ErrRows
	}
	if err != nil {
		return Incident{}, err
	}
	return rows[0], nil
}

// Send sends what comes until ctx ends. tell is told of what goes wrong, once a minute at most.
func (u *Uploads) Send(ctx context.Context, tell func(error)) {
	wait := firstWait
	var told time.Time
	for {
		err := u.Drain(ctx)
		pause := time.NewTimer(mostWait)
		if err != nil && ctx.Err() == nil {
			if time.Since(told) >= time.Minute {
				tell(err)
				told = time.Now()
			}
			pause.Reset(wait/2 + rand.N(wait))
			wait = min(2*wait, mostWait)
		} else {
			wait = firstWait
		}
		wake := u.wake
		if err != nil {
			wake = nil // another recording does not bring the bucket back
		}
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-wake:
		case <-pause.C:
		}
		pause.Stop()
	}
}

// Whose is who a recording is of that is being written: kept beside it, so that it can be
// told if the agent does not live to do so.
type Whose struct {
	Identity Identity
	Process  ID
	Group    string // path of its cgroup
	Limit    uint64
}

const whose = ".whose"

// Keep writes it beside the recording.
func (w Whose) Keep(recording string) error {
	return outfile.Write(recording+whose, func(out io.Writer) error { return json.NewEncoder(out).Encode(w) })
}

// Forget removes it.
func (w Whose) Forget(recording string) { _ = os.Remove(recording + whose) }

// LeftBehind are the recordings of a directory that an agent wrote which ended before they did, with
// whose they are.
func LeftBehind(dir string) map[string]Whose {
	left := map[string]Whose{}
	entries, _ := os.ReadDir(dir) // none
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), whose)
		if !ok {
			continue
		}
		path := filepath.Join(dir, name)
		f, err := regular.Open(path + whose)
		if err != nil {
			continue
		}
		var w Whose
		err = json.NewDecoder(io.LimitReader(f, mostString)).Decode(&w)
		f.Close()
		if _, gone := os.Lstat(path); err != nil || gone != nil {
			_ = os.Remove(path + whose)
			continue
		}
		left[path] = w
	}
	return left
}
