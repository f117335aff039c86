package explain

import "github.com/highwater-go/highwater/internal/words/sample"

// The vocabulary: one word for each thing, in answers, on the page and in the docs. Names in
// JSON and in recordings are older and stay as they are.
const (
	WordLiveHeap = "live heap"            // reachable at the last GC, or at the reading itself
	WordFreeHeap = "free heap"            // without objects, kept by Go
	AllocatedBy  = "ALLOCATED BY"         // lines that allocated what is live
	RetainedBy   = "RETAINED BY"          // what would have to go for the rest to be garbage
	GrownBy      = "FIRST WRITTEN BY"     // lines that touched native memory first
	NativeBy     = "NATIVE, ALLOCATED BY" // lines that asked C's allocator for what is live
	WordNative   = "native memory"
)

// RowWord is a row of the ledger in that vocabulary.
func RowWord(name string) string {
	switch name {
	case sample.RowLive:
		return WordLiveHeap
	case sample.RowNew:
		return "new heap"
	case sample.RowIdle:
		return WordFreeHeap
	case sample.RowNative:
		return WordNative
	}
	return name
}
