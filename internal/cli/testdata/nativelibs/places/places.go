// Package places prints the lines of a source that are marked.
package places

import (
	"encoding/json"
	"os"
	"strings"
)

// Tell prints them as JSON, and ends, where that is what the program was asked for.
func Tell(source string) {
	if len(os.Args) < 2 || os.Args[1] != "-truth" {
		return
	}
	type place struct{ Line int }
	at := map[string]place{}
	for i, line := range strings.Split(source, "\n") {
		if _, name, ok := strings.Cut(line, "// truth: "); ok {
			at[name] = place{i + 1}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"Places": at}); err != nil {
		panic(err)
	}
	os.Exit(0)
}
