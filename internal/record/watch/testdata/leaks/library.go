//go:build library

package main

import "C"

import "os"

// Run is what a program in C calls, whose first argument is this library.
//
//export Run
func Run() {
	os.Args = os.Args[1:]
	main()
}
