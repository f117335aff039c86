package capture

import (
	"testing"
	"time"
)

func TestAnAlarmRingsOnceForEachSet(t *testing.T) {
	for name, make := range map[string]func() alarm{"the kernel's": newAlarm, "Go's": goAlarm} {
		t.Run(name, func(t *testing.T) {
			a := make()
			defer a.stop()
			for _, d := range []time.Duration{0, time.Nanosecond, 2 * time.Millisecond, 0} {
				began := time.Now()
				a.set(d)
				<-a.C
				if took := time.Since(began); took < d {
					t.Errorf("set to %s, it rang after %s", d, took)
				}
				select {
				case <-a.C:
					t.Errorf("set to %s, it rang twice", d)
				default:
				}
			}
		})
	}
}

func TestAnAlarmThatIsStoppedStaysSilent(t *testing.T) {
	for name, make := range map[string]func() alarm{"the kernel's": newAlarm, "Go's": goAlarm} {
		t.Run(name, func(t *testing.T) {
			a := make()
			a.set(time.Hour)
			a.stop()
			if len(a.C) != 0 {
				t.Error("it rang")
			}
		})
	}
}
