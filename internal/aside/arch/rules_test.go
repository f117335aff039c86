package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// rule finds what is wrong with one file; each complaint begins with a place.
type rule struct {
	name  string
	check func(source) []string
}

var rules = []rule{
	{"rooms stand on a floor and import lower ones only", importsDown},
	{"each door to the world has its keeper", keptDoors},
	{"a package's name says what it is", namesSay},
	{"nothing runs before main", noInit},
	{"the system is asked for in the leaves only", noGOOS},
	{"only package main ends the program", noExit},
	{"only the mouth speaks", noStandardOutput},
	{"one room writes the files that users ask for", noOtherFiles},
	{"what is said goes through one writer", noOtherMouth},
	{"ELF headers of strangers are looked at before debug/elf reads them", noOtherELF},
}

func importsDown(s source) (wrong []string) {
	if _, ok := floors[s.room]; !ok && strings.HasPrefix(s.path, "internal/") {
		return []string{s.path + ": room " + s.room + " is in no table"}
	}
	for path, node := range s.imports() {
		rest, own := strings.CutPrefix(path, module)
		if !own {
			continue
		}
		to, inside := strings.CutPrefix(rest, "internal/")
		to = roomOf(to)
		switch {
		case !inside:
			wrong = append(wrong, s.line(node)+": imports "+rest+", which is no room")
		case s.room == "cmd" && to != "cli":
			wrong = append(wrong, s.line(node)+": a command imports cli alone, not "+to)
		case s.room != "cmd":
			if why := mayImport(s.room, to, s.test); why != "" {
				wrong = append(wrong, s.line(node)+": "+s.room+" imports "+to+": "+why)
			}
		}
	}
	return wrong
}

func keptDoors(s source) (wrong []string) {
	if s.test || floors[s.room] == aside {
		return nil
	}
	for path, node := range s.imports() {
		for door, rooms := range keepers {
			if (path == door || strings.HasPrefix(path, door+"/")) && !slices.Contains(rooms, s.room) {
				wrong = append(wrong, s.line(node)+": imports "+path+", which is for "+strings.Join(rooms, ", "))
			}
		}
	}
	return wrong
}

func namesSay(s source) []string {
	name := strings.TrimSuffix(s.file.Name.Name, "_test")
	if slices.Contains(emptyNames, name) || slices.Contains(emptyNames, s.room) {
		return []string{s.line(s.file.Name) + ": package " + name + " says nothing of what it is"}
	}
	return nil
}

func noInit(s source) (wrong []string) {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			wrong = append(wrong, s.line(f)+": has an init function")
		}
	}
	return wrong
}

func noGOOS(s source) []string {
	if s.test || s.path == "internal/cli/version_command.go" || strings.HasSuffix(s.path, "_other.go") { // which say which it is
		return nil
	}
	return uses(s, "runtime", "GOOS")
}

func noExit(s source) []string {
	if s.test || s.file.Name.Name == "main" {
		return nil
	}
	return append(uses(s, "os", "Exit"), uses(s, "log", "Fatal", "Fatalf", "Fatalln")...)
}

func noStandardOutput(s source) []string {
	if s.test || s.file.Name.Name == "main" || slices.Contains(speakers, s.room) || floors[s.room] == aside {
		return nil
	}
	return append(uses(s, "os", "Stdout", "Stderr"), uses(s, "fmt", "Print", "Printf", "Println")...)
}

// noOtherFiles finds files made by name: a file that is made by its name alone may be a link or a device that somebody
// put there. Temporary directories are their makers' own.
func noOtherFiles(s source) []string {
	if s.test || s.file.Name.Name == "main" || slices.Contains(filers, s.room) || floors[s.room] == aside {
		return nil
	}
	wrong := uses(s, "os", "Create", "CreateTemp", "WriteFile", "Rename", "O_CREATE")
	for i := range wrong {
		wrong[i] += ": what stands under a name may be a link of somebody else's; make the file through a room in filers"
	}
	return wrong
}

// noOtherELF finds users of debug/elf: debug/elf makes gigabytes of a small file.
func noOtherELF(s source) []string {
	if s.test || s.room == "elffile" || s.file.Name.Name == "main" || floors[s.room] == aside {
		return nil
	}
	return uses(s, "debug/elf", "NewFile", "Open")
}

// streamsFile alone may write past the writer that shows control characters.
const streamsFile = "internal/app/streams.go"

// noOtherMouth finds writers beside visible.Fprintf: in app and cli, values go into a line by visible.Fprintf, which
// lets none of them begin another line. fmt writes into texts in memory alone, fmt.Fprintf(&b, ...).
func noOtherMouth(s source) (wrong []string) {
	if s.test || s.room != "app" && s.room != "cli" || s.file.Name.Name == "main" || s.path == streamsFile {
		return nil
	}
	printer := importName(s, "fmt")
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name == "Unescaped" {
				wrong = append(wrong, s.line(n)+": goes past the writer")
			}
		case *ast.CallExpr:
			if prints(n, printer) {
				wrong = append(wrong, s.line(n)+": prints by fmt, not by visible.Fprintf")
			}
		}
		return true
	})
	return append(wrong, uses(s, "os", "Stdout", "Stderr")...)
}

// prints says whether a call is fmt.Fprint, Fprintf or Fprintln into anything but a
// variable of its own.
func prints(c *ast.CallExpr, printer string) bool {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(f.Sel.Name, "Fprint") || len(c.Args) == 0 {
		return false
	}
	if x, ok := f.X.(*ast.Ident); !ok || x.Name != printer {
		return false
	}
	into, ok := c.Args[0].(*ast.UnaryExpr)
	return !ok || into.Op != token.AND
}

// uses finds members of a standard package in a file, by the name it is
// imported under.
func uses(s source, path string, members ...string) (found []string) {
	name := importName(s, path)
	ast.Inspect(s.file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(members, selector.Sel.Name) {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && name != "" && x.Name == name {
			found = append(found, s.line(n)+": uses "+path+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}

// importName is what the file calls a package, "" if it does not import it.
func importName(s source, path string) string {
	node, ok := s.imports()[path].(*ast.ImportSpec)
	switch {
	case !ok:
		return ""
	case node.Name != nil:
		return node.Name.Name
	}
	return path[strings.LastIndex(path, "/")+1:]
}
