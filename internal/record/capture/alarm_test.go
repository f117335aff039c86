package capture

import (
	"testing"
	"time"
)

func TestAnAlarmRingsOnceForEachSet(t *testing.T) {
	wheel := NewWheel()
	defer wheel.Close()
	for name, make := range map[string]func() alarm{"the kernel's": newAlarm, "Go's": goAlarm, "a wheel's": wheel.alarm} {
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
	wheel := NewWheel()
	defer wheel.Close()
	for name, make := range map[string]func() alarm{"the kernel's": newAlarm, "Go's": goAlarm, "a wheel's": wheel.alarm} {
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

func TestAWheelWakesEachLoopAtItsTime(t *testing.T) {
	wheel := NewWheel()
	defer wheel.Close()
	began := time.Now()
	var alarms []alarm
	for i := range 50 { // the last is due first
		a := wheel.alarm()
		a.set(time.Duration(50-i) * time.Millisecond)
		alarms = append(alarms, a)
	}
	alarms[49].stop()
	alarms[10].set(0)
	for i, a := range alarms[:49] {
		<-a.C
		if took, least := time.Since(began), time.Duration(50-i)*time.Millisecond; i != 10 && took < least {
			t.Errorf("alarm %d, set to %s, rang after %s", i, least, took)
		}
	}
	if len(alarms[49].C) != 0 {
		t.Error("one that was stopped rang")
	}
}
