//go:build !linux

package app

import "os"

// notifyStop brings the requests that this process be stopped: never here, where
// nothing can be watched.
func notifyStop() chan os.Signal { return nil }

func stopSelf() {}

func mayStop() bool { return false }
