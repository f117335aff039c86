package explain

// isChannelEach reports whether channels of a name became more themselves while each of them did not fill up any further: what
// piles up is what each of them belongs to, as subscribers that are gone, and not the work in them.
func (c *Case) isChannelEach(name string) bool {
	if name == "" || c.Heap == nil {
		return false
	}
	now, ok := capturedChannels(c.Heap)[name]
	at := c.seconds(c.Heap.At)
	if !ok || now.Count == 0 {
		return false
	}
	for _, k := range c.Captures {
		was := k.Channels[name]
		if k.At < at && was.Count >= fewestChannels && now.Count >= 2*was.Count && now.Entries*was.Count <= 2*was.Entries*now.Count {
			return true
		}
	}
	return false
}

// fewestChannels is how many there have to be in a capture, to be compared with a later one.
const fewestChannels = 4
