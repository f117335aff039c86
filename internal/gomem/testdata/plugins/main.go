// Command plugins opens the plugin that PLUGIN names, which keeps memory in
// a variable of its own and starts a goroutine, and waits.
package main

import (
	"bufio"
	"fmt"
	"os"
	"plugin"
	"runtime"
)

func main() {
	p, err := plugin.Open(os.Getenv("PLUGIN"))
	if err == nil {
		var start plugin.Symbol
		if start, err = p.Lookup("Start"); err == nil {
			start.(func(int))(32 << 20)
		}
	}
	if err != nil {
		fmt.Println(err)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		runtime.GC()
		runtime.GC()
		fmt.Println("END")
	}
}
