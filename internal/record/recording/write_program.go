package recording

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// digest is the identity of a content: the first 16 bytes of a SHA-256. It is the
// same in every recording.
type digest [16]byte

// content collects what a digest is made of: strings with their lengths before
// them and numbers, 8 bytes each, big-endian.
type content []byte

func (c content) number(n uint64) content { return binary.BigEndian.AppendUint64(c, n) }
func (c content) string(s string) content { return append(c.number(uint64(len(s))), s...) }
func (c content) digest() digest {
	sum := sha256.Sum256(c)
	return digest(sum[:16])
}

// frameDigest identifies a frame by what people see of it.
func frameDigest(f sample.Frame) digest {
	return content{}.string(f.Func).string(f.File).number(uint64(f.Line)).number(uint64(f.StartLine)).digest()
}

// siteDigest identifies an allocation site by its frames, innermost first, and
// the size of its objects: addresses, which differ from build to build, are no
// part of it. A location without frames counts as its address.
func siteDigest(s sample.Site) digest { return digestOfSite(nil, s, frameDigest) }

// digestOfSite is siteDigest over a buffer and frame digests that are known.
func digestOfSite(c content, s sample.Site, of func(sample.Frame) digest) digest {
	c = c.number(uint64(s.Size))
	for _, l := range s.Stack {
		for _, f := range l.Frames {
			d := of(f)
			c = append(c, d[:]...)
		}
		if len(l.Frames) == 0 {
			c = c.number(l.Address)
		}
	}
	return c.digest()
}

// Program records what a process runs. A second Program under the same key is an
// exec: what comes after it, sites too, belongs to the new one.
func (w *Writer) Program(p sample.Program) error {
	return w.write("program", func() error {
		// Points that wait were taken of what ran before.
		if err := w.writePoints(); err != nil {
			return err
		}
		return w.addProgram(p)
	})
}

func (w *Writer) addProgram(p sample.Program) error {
	row := []driver.Value{text(w.meta.Host), text(w.meta.BootID), int64(p.Key.PID), int64(p.Key.Start),
		int64(p.Parent), text(p.Name), text(p.Exe), list(p.Args)}
	if g := p.Go; g != nil {
		row = append(row, g.Version, list(g.Experiments), text(g.Module), text(g.ModuleVersion), text(g.MainPackage),
			text(g.Revision), text(g.BuildID), text(g.Arch), flag(g.PIE), flag(g.CGO), flag(g.Stripped), list(g.Deps))
	} else {
		row = append(row, make([]driver.Value, 12)...)
	}
	id, err := w.add(&tableProcess, append(row, string(p.HeapProfile), text(p.WhyNot), foundBy(p.Go))...)
	if err == nil {
		w.process[p.Key] = &processState{id: id}
	}
	return err
}

func foundBy(g *sample.GoProgram) driver.Value {
	if g == nil {
		return nil
	}
	return text(g.FoundBy)
}

// list is a JSON array, NULL for a nil slice.
func list[T any](items []T) driver.Value {
	if items == nil {
		return nil
	}
	b, err := json.Marshal(items)
	if err != nil { // strings and modules always marshal
		panic(err)
	}
	return string(b)
}

// processOf is the process's newest row. One that no Program was given for gets a
// row with its key alone.
func (w *Writer) processOf(key sample.ProcessKey) (*processState, error) {
	if s := w.process[key]; s != nil {
		return s, nil
	}
	row := make([]driver.Value, len(tableProcess.columns))
	copy(row, []driver.Value{text(w.meta.Host), text(w.meta.BootID), int64(key.PID), int64(key.Start)})
	id, err := w.add(&tableProcess, row...)
	if err != nil {
		return nil, err
	}
	w.process[key] = &processState{id: id}
	return w.process[key], nil
}

// processRef is a reference to a process that may be none.
func (w *Writer) processRef(key sample.ProcessKey) (driver.Value, error) {
	if key == (sample.ProcessKey{}) {
		return nil, nil
	}
	s, err := w.processOf(key)
	if err != nil {
		return nil, err
	}
	return s.id, nil
}

// Sites announces the process's allocation sites numbered from first on. Numbers
// go up without holes; those known already are passed over.
func (w *Writer) Sites(key sample.ProcessKey, first int, sites []sample.Site) error {
	return w.write("sites", func() error {
		p, err := w.processOf(key)
		if err != nil {
			return err
		}
		if first > p.sites {
			return fmt.Errorf("sites from %d announced after %d", first, p.sites)
		}
		for i, s := range sites {
			if first+i < p.sites {
				continue
			}
			if err := w.addSite(p, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *Writer) addSite(p *processState, s sample.Site) error {
	stack, err := w.stack(s.Stack)
	if err != nil {
		return err
	}
	hash := digestOfSite(w.content[:0], s, func(f sample.Frame) digest { return w.frames[f].hash })
	if _, err := w.add(&tableSite, p.id, int64(p.sites), hash[:], int64(s.Size), stack, int64(s.Hidden)); err != nil {
		return err
	}
	p.sites++
	return nil
}

// stack records locations and returns their row numbers as a JSON array.
func (w *Writer) stack(locations []sample.Location) (string, error) {
	ids := numbers{}
	for _, l := range locations {
		id, err := w.location(l)
		if err != nil {
			return "", err
		}
		ids.add(uint64(id))
	}
	return ids.json(), nil
}

func (w *Writer) location(l sample.Location) (int64, error) {
	c := w.content[:0].number(l.Address)
	ids := w.ids[:0]
	for _, f := range l.Frames {
		id, err := w.frame(f)
		if err != nil {
			return 0, err
		}
		ids.add(uint64(id))
		c = c.number(uint64(id))
	}
	key := c.digest()
	if id := w.locations[key]; id != 0 {
		return id, nil
	}
	id, err := w.add(&tableLocation, int64(l.Address), ids.json())
	if err == nil {
		w.locations[key] = id
	}
	return id, err
}

func (w *Writer) frame(f sample.Frame) (int64, error) {
	if known, ok := w.frames[f]; ok {
		return known.id, nil
	}
	hash := frameDigest(f)
	id, err := w.add(&tableFrame, hash[:], f.Func, f.File, int64(f.Line), int64(f.StartLine))
	if err == nil {
		w.frames[f] = frameRow{id, hash}
	}
	return id, err
}

// numbers is a JSON array of whole numbers in the making.
type numbers []byte

func (n *numbers) add(v uint64) {
	if len(*n) > 0 {
		*n = append(*n, ',')
	}
	*n = strconv.AppendUint(*n, v, 10)
}

func (n numbers) json() string { return "[" + string(n) + "]" }
