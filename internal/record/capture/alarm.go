package capture

import "time"

// alarm wakes the loop once, some time after each set.
type alarm struct {
	C    chan struct{} // holds one
	set  func(time.Duration)
	stop func()
}

// bell is a timer that calls a function some time after each set.
type bell struct {
	set  func(time.Duration)
	stop func()
}

// goBell is a bell on Go's own timer.
func goBell(rings func()) bell {
	timer := time.AfterFunc(time.Hour, rings)
	return bell{set: func(d time.Duration) { timer.Reset(d) }, stop: func() { timer.Stop() }}
}

// newAlarm is an alarm on the best bell there is, goAlarm one on Go's timer.
func newAlarm() alarm { return alarmOn(newBell) }
func goAlarm() alarm  { return alarmOn(goBell) }

func alarmOn(newBell func(func()) bell) alarm {
	c := make(chan struct{}, 1)
	b := newBell(func() { ring(c) })
	return alarm{C: c, set: b.set, stop: b.stop}
}

func ring(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has not heard the last one yet
	}
}
