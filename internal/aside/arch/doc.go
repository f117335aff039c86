// Package arch holds the tests of the house's own shape: which room stands on
// which floor, who may import whom, and what no room may do. It reads the
// source tree in-process and runs nothing. It has no code of its own.
package arch
