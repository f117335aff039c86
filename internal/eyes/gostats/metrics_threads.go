package gostats

import "github.com/highwater-go/highwater/internal/eyes/gomem"

// pStates counts Ps by what their goroutine does.
type pStates struct{ running, syscall int64 }

// pRunning is the status of a P that runs a goroutine (runtime/runtime2.go).
const pRunning = 1

// readPs sums the Ps' fields.
func (m *metricReader) readPs(mem gomem.Memory, ps []uint64) (states pStates, err error) {
	clear(m.pTotals)
	buf := make([]byte, m.pSize)
	for _, p := range ps {
		if err := mem.Read(p, buf); err != nil {
			return states, err
		}
		for i, t := range m.perP {
			m.pTotals[i] += t.number(buf[t.addr:])
		}
		if m.hasStates && gomem.Half(buf, m.pStatus) == pRunning {
			if m.inSyscall(mem, gomem.Word(buf, m.pM)) {
				states.syscall++
			} else {
				states.running++
			}
		}
	}
	return states, nil
}

// inSyscall says whether the goroutine that an M runs is in a system call.
func (m *metricReader) inSyscall(mem gomem.Memory, addr uint64) bool {
	g, err := mem.U64(addr + m.mCurg)
	if err != nil || g == 0 {
		return false
	}
	status, err := mem.U32(g + m.gStatus)
	return err == nil && status&^gomem.StatusScan == gomem.StatusSyscall
}

// readMs sums the fields of the threads, or of the newest most of them.
func (m *metricReader) readMs(mem gomem.Memory, most int) (all bool, err error) {
	clear(m.mTotals)
	buf := make([]byte, m.mSize)
	at, err := mem.U64(m.allm)
	for n := 0; err == nil && at != 0; n++ {
		if n == most {
			return false, nil
		}
		if err = mem.Read(at, buf); err != nil {
			break
		}
		for i, t := range m.perM {
			m.mTotals[i] += t.number(buf[t.addr:])
		}
		at = gomem.Word(buf, m.alllink)
	}
	return true, err
}
