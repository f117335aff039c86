//go:build library

package main

import "C"

// Run is what a program in C calls.
//
//export Run
func Run() { main() }
