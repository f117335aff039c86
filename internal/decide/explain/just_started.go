package explain

// doubtFirstMinute is why growth is not sure in a program that was followed from its start, for less than a minute.
const doubtFirstMinute = "the program had run for less than a minute"

// justStarted reports whether a program was seen for less than a minute, without need, and did not end by itself: what fills a cache
// or a queue looks like a leak until it is full, and what comes later was not seen.
func (c *Case) justStarted() bool {
	o := &c.outcome
	return (o.State == Running || o.Stopped != "") && o.Elapsed < longestFirstRise.v() && !c.pressed && c.Load == ""
}

// doubtYoung lowers the confidence in what is said of a program that had just started, and adds why. Of a program that ran before it
// was watched, a minute tells as little of its health, but what grows in it is not filling for the first time.
func (c *Case) doubtYoung(v *Verdict) {
	if !c.justStarted() || v.Confidence == Low {
		return
	}
	reason := doubtFirstMinute
	switch {
	case v.Class == Healthy:
		reason = doubtShortWatch
	case c.Watched, c.retainsByDesign(), v.Class != Leak && v.Class != Backlog:
		return
	}
	v.Reasons = append(v.Reasons, reason)
	if v.Confidence = v.Confidence.lower(); v.Class == Leak {
		v.Detail = "Probably a leak."
	}
}
