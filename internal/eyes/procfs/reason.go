package procfs

import "strings"

var (
	// Words that say nothing of where something is: letters, numbers and sizes, flags,
	// and names of Go's own packages and variables.
	plainWord = lazily(`^["'(]?(?:[A-Za-z][A-Za-z'-]*|\d[\d,]*(?:\.\d+)?(?:%|[A-Za-z]{1,3})?|--?[a-z][a-z-]*|go1(?:\.\d+)*|(?:runtime|net/http)(?:/[a-z]+)?(?:\.[A-Za-z]+)?|GO[A-Z]+=?\w*|/proc|/debug/pprof/heap)[)"'.,:;]*$`)
	// Words behind which stands a name or a number of somebody's.
	leadWord = lazily(`^["'(]?(?:lookup|dial|pids?|process(?:es)?|host|user|uid|called|named|file|directory|folder|executable|cgroup|container)["':]?$`)
	// A directory within a name, as a line of code in the name of a holder has it.
	directory = lazily(`(^|[\s"'(=:,])(?:[A-Za-z]:)?/(?:[^\s"'():/]+/)+`)
)

// PlainReason is why something was not seen without what names a place, a machine or
// somebody: addresses, paths, hosts and process IDs become Withheld. What it cannot
// tell from such a name goes, too.
func PlainReason(text string) string {
	words := strings.Fields(text)
	out := words[:0]
	hide := false
	for _, w := range words {
		lead := leadWord.MatchString(w)
		if (hide && !lead) || !plainWord.MatchString(w) {
			if n := len(out); n == 0 || out[n-1] != Withheld {
				out = append(out, Withheld)
			}
			// "dial tcp: lookup NAME": a network's name hides no other.
			hide = hide && (strings.HasPrefix(w, "tcp") || strings.HasPrefix(w, "udp"))
			continue
		}
		out, hide = append(out, w), lead
	}
	return strings.Join(out, " ")
}

// WithoutDirectories is a name in which paths have lost their directories.
func WithoutDirectories(name string) string {
	return directory.ReplaceAllString(name, "${1}")
}
