package fleet

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// ErrNone is that a store has nothing of that name.
var ErrNone = errors.New("the store has none")

// shortestPrefix is how many digits of an ID must be given.
const shortestPrefix = 8

// idRange is the first and the last ID that begin with these hexadecimal digits.
func idRange(prefix string) (lo, hi ID, err error) {
	if len(prefix) < shortestPrefix || len(prefix) > 2*len(lo) {
		return lo, hi, fmt.Errorf("%q is no incident: give 8 to 32 hexadecimal digits of its ID", prefix)
	}
	missing := 2*len(lo) - len(prefix)
	for _, one := range []struct {
		id   *ID
		fill string
	}{{&lo, "0"}, {&hi, "f"}} {
		if _, err := hex.Decode(one.id[:], []byte(strings.ToLower(prefix)+strings.Repeat(one.fill, missing))); err != nil {
			return lo, hi, fmt.Errorf("%q is no incident: give 8 to 32 hexadecimal digits of its ID", prefix)
		}
	}
	return lo, hi, nil
}
