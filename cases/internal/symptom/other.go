//go:build !linux

package symptom

import "errors"

// group needs cgroups.
type group struct{}

func newGroup(uint64) (*group, error) { return nil, errors.ErrUnsupported }

func (g *group) procs() string             { return "" }
func (g *group) usage() uint64             { return 0 }
func (g *group) peak() uint64              { return 0 }
func (g *group) limitHits() uint64         { return 0 }
func (g *group) kills() uint64             { return 0 }
func (g *group) refaults() uint64          { return 0 }
func (g *group) stat() (anon, file uint64) { return 0, 0 }
func (g *group) remove() error             { return nil }

func residency(int, uint64) (heap, outside uint64, err error) { return 0, 0, errors.ErrUnsupported }

func ColdCopy(to, from string) error { return errors.ErrUnsupported }
