package procfs

import "golang.org/x/sys/unix"

// piecesAtOnce is how many pieces are asked for by one call: it may be 1024
// (UIO_MAXIOV), but a call's own cost no longer shows long before.
const piecesAtOnce = 128

// readPiecesDirect is ReadPieces by few calls. It allocates nothing, and says no where not
// all is there.
func readPiecesDirect(pid int, p []byte, pieces [][2]uint64) bool {
	var remote [piecesAtOnce]unix.RemoteIovec
	for len(pieces) > 0 {
		some, n := pieces[:min(len(pieces), piecesAtOnce)], 0
		for i, at := range some {
			remote[i] = unix.RemoteIovec{Base: uintptr(at[0]), Len: int(at[1] - at[0])}
			n += remote[i].Len
		}
		if !readRemote(pid, p[:n], remote[:len(some)]) {
			return false
		}
		p, pieces = p[n:], pieces[len(some):]
	}
	return true
}
