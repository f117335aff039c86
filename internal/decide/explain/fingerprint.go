package explain

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// shortFingerprint is how much of a fingerprint people are shown: "hw-" and six hex digits.
const shortFingerprint = len("hw-") + 6

// fingerprint names a cause across recordings: "hw-" and 16 hex digits of a hash of the
// class, the culprit's function and the main package. Lines, paths and numbers are not in
// it, so that it outlives a change of line, of machine and of load.
func fingerprint(class Class, function, mainPackage string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"1", string(class), steadyName(function), steadyName(mainPackage)}, "\x00")))
	return "hw-" + hex.EncodeToString(sum[:8])
}

var (
	closures = regexp.MustCompile(`(\.(func|gowrap|deferwrap)\d+(\.\d+)*(-range\d+)?|\.\d+)+$`)
	major    = regexp.MustCompile(`/v\d+([./]|$)`)
)

// steadyName is a function's name without what a compiler or a release numbers: which
// closure of a function it is, what type arguments stand for, and a module's major version.
func steadyName(function string) string {
	function = closures.ReplaceAllString(bareName(function), ".func")
	return major.ReplaceAllString(function, "$1")
}

// History tells how often a cause was seen before.
type History interface {
	// Seen is the number of other recordings whose verdict had the fingerprint.
	Seen(fingerprint string) (int, error)
}
