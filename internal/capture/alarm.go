package capture

import "time"

// alarm wakes the loop once, some time after each set.
type alarm struct {
	C    chan struct{} // holds one
	set  func(time.Duration)
	stop func()
}

// goAlarm is an alarm on Go's own timer.
func goAlarm() alarm {
	c := make(chan struct{}, 1)
	timer := time.AfterFunc(time.Hour, func() { ring(c) })
	return alarm{C: c, set: func(d time.Duration) { timer.Reset(d) }, stop: func() { timer.Stop() }}
}

func ring(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has not heard the last one yet
	}
}
