package explain

import (
	"path"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// nameScripts gives interpreters that run a script the script's name, and its
// command line.
func nameScripts(programs []sample.Program) {
	for i := range programs {
		p := &programs[i]
		if at := p.Script(); at > 0 {
			p.Name, p.Args = path.Base(p.Args[at]), p.Args[at:]
		}
	}
}
