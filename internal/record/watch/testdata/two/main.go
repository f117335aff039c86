// Two is a Go program that keeps 8 MiB, loads the Go library that its first argument
// names, and has that keep 64 MiB more.
package main

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
// static int run(const char *path) {
// 	void *library = dlopen(path, RTLD_NOW);
// 	if (!library) return 0;
// 	((void (*)(void))dlsym(library, "Run"))();
// 	return 1;
// }
import "C"

import "os"

var kept []byte

func main() {
	kept = make([]byte, 8<<20)
	if C.run(C.CString(os.Args[1])) == 0 {
		os.Exit(1)
	}
}
