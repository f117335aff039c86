package signature

// ProfilingSwitch reads runtime.schedinit, where Go 1.20 to 1.27 have
//
//	if disableMemoryProfiling {
//		MemProfileRate = 0
//	}
//
// It gives the addresses of both; ok is false unless the function has just one
// such place. No other function names the flag, so that no votes can be had for it.
func ProfilingSwitch(arch string, c Code) (flag, rate uint64, ok bool) {
	c.Bytes = c.Bytes[:min(len(c.Bytes), maxCode)]
	switch arch {
	case "amd64":
		return switchAMD64(c)
	case "arm64":
		return switchARM64(c)
	}
	return 0, 0, false
}
