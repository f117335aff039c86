package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/highwater-go/highwater/internal/words/units"
)

// stateMax is the variable that says how much all recordings may take.
const stateMax = "HIGHWATER_STATE_MAX"

// mostState is that by default: some thousand runs.
const mostState = 8 << 30

// stateBound is how much all recordings of the state directory may take; 0: any.
func stateBound() (int64, error) {
	text := os.Getenv(stateMax)
	switch text {
	case "":
		return mostState, nil
	case "off":
		return 0, nil
	}
	n, err := units.ParseSize(text)
	if err != nil || n == 0 || n > 1<<62 {
		return mostState, fmt.Errorf("%s=%s is not a size, nor off: all recordings may take %s", stateMax, text, units.Limit(int64(mostState)))
	}
	return int64(n), nil
}

// keepBound removes the oldest recordings where, with a new one at path, all take more
// than they may, and says so.
func keepBound(path string, say func(format string, args ...any)) {
	bound, err := stateBound()
	if err != nil {
		say("highwater: %v", err)
	}
	dir, err := stateDir()
	if err != nil || filepath.Dir(path) != dir || bound == 0 {
		return
	}
	k, err := OpenState()
	if err != nil || k == nil { // a link: what it leads to is its user's to keep small
		return
	}
	defer k.Close()
	n, bytes, err := k.shrink(bound, filepath.Base(path))
	if n > 0 {
		say("removed the oldest %s: all may take %s (%s)", sized(n, bytes), units.Limit(bound), stateMax)
	}
	if err != nil {
		say("highwater: keep all recordings below %s: %v", units.Limit(bound), err)
	}
}

// shrink removes the oldest until the rest is within the bound; what is being written
// stays, and the one of the name that is given.
func (k *stateFolder) shrink(bound int64, except string) (n int, bytes int64, err error) {
	all, err := k.List()
	if err != nil {
		return 0, 0, err
	}
	over := sum(all) - bound
	for _, one := range slices.Backward(all) {
		if over <= bytes {
			break
		}
		if one.Name == except || k.refuses(one) != nil {
			continue
		}
		if err := k.remove(one); err != nil {
			return n, bytes, err
		}
		n, bytes = n+1, bytes+one.Bytes
	}
	return n, bytes, nil
}
