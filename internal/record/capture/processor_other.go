//go:build !linux

package capture

import "time"

func processorTime() time.Duration { return sinceStart() }
