package explain

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// fingerprint names a cause across recordings: "hw-" and six hex digits of a
// hash of the class, the culprit's function and the main package. Lines, paths
// and numbers are not in it, so that it outlives a change of line, of machine
// and of load.
func fingerprint(class Class, function, mainPackage string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"1", string(class), function, mainPackage}, "\x00")))
	return "hw-" + hex.EncodeToString(sum[:3])
}

// History tells how often a cause was seen before.
type History interface {
	// Seen is the number of other recordings whose verdict had the fingerprint.
	Seen(fingerprint string) (int, error)
}
