//go:build !linux

package capture

func newBell(rings func()) bell { return goBell(rings) }
