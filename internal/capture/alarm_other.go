//go:build !linux

package capture

func newAlarm() alarm { return goAlarm() }
