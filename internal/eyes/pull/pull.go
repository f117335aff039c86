// Package pull reads what Go programs offer of themselves: heap profiles in
// pprof's form, from files or from net/http/pprof, and the lines that
// GODEBUG=gctrace=1 makes the runtime print. It gives them in the words of a
// recording, keeps nothing and judges nothing.
//
// A program's own heap profile is up to two collections old and already scaled;
// package pull takes the scaling back, where that is possible without loss.
package pull

import (
	"errors"
	"fmt"
)

// What a file or an answer can be instead of a heap profile.
var (
	ErrNotProfile  = errors.New("not a pprof profile")
	ErrHTML        = fmt.Errorf("%w: a page in HTML", ErrNotProfile)
	ErrOtherKind   = errors.New("not a heap profile")
	ErrDifference  = errors.New("a difference of two profiles, as /debug/pprof/heap?seconds=N gives: without the parameter it is a heap profile")
	ErrCutProfile  = errors.New("the profile is cut: its compressed data ends too early")
	ErrTooLarge    = errors.New("the profile is too large to be read")
	ErrNoSymbols   = errors.New("the profile names no functions: save it without debug=1, or with the program at hand (pprof -proto PROGRAM PROFILE)")
	ErrEmpty       = errors.New("the file is empty")
	ErrNoCollector = errors.New("no line of GODEBUG=gctrace=1 is in it")
)
