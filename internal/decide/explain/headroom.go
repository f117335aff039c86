package explain

import "fmt"

// headroomWords say that most of the peak is garbage that the program's own GOGC allows, "" where it is not, or where GOGC is not
// above its default of 100.
func (c *Case) headroomWords() string {
	if c.g == nil || c.g.GOGC <= 100 || float64(c.waste()) < heldByRoot.v()*c.hardPeak() {
		return ""
	}
	return fmt.Sprintf("With GOGC=%d the heap may grow to %.1f times what is live before GC runs: %s of the peak was allocated since the last GC, most of it garbage.",
		c.g.GOGC, 1+float64(c.g.GOGC)/100, size(c.waste()))
}
