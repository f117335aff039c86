package procfs

import "fmt"

// ReadPieces reads many pieces of memory, each from its first address to before its
// second, into p, one behind another; p must be as long as all of them. It is much
// faster than as many calls of ReadAt where the pieces are small. It fails where one
// of them is not all mapped, and may be called at once from several goroutines.
func (m *Memory) ReadPieces(p []byte, pieces [][2]uint64) error {
	var total uint64
	for _, at := range pieces {
		if at[1] <= at[0] || at[1]-at[0] > uint64(len(p)) {
			return fmt.Errorf("read [%#x, %#x): no piece of memory", at[0], at[1])
		}
		total += at[1] - at[0]
	}
	switch {
	case total != uint64(len(p)):
		return fmt.Errorf("read pieces of %d bytes into %d", total, len(p))
	case total == 0:
		return nil
	}
	_, err := m.readers.call(call{of: m, kind: readPieces, p: p, pieces: pieces})
	return err
}

// piecesNow is ReadPieces, which may hang.
func (m *Memory) piecesNow(p []byte, pieces [][2]uint64) (int, error) {
	for _, at := range pieces {
		if err := m.answers.has(at[0], int(at[1]-at[0])); err != nil {
			return 0, err
		}
	}
	if m.pid != 0 && readPiecesDirect(m.pid, p, pieces) {
		return len(p), nil
	}
	total := len(p)
	for _, at := range pieces { // the file knows more
		n := int(at[1] - at[0])
		if got, err := m.file.ReadAt(p[:n], int64(at[0])); got < n {
			return 0, fmt.Errorf("read %d bytes at %#x: %w", n, at[0], err)
		}
		p = p[n:]
	}
	return total, nil
}
