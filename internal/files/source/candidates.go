package source

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// candidate is a path where a file may be, and what speaks against it.
type candidate struct {
	path   string
	root   string // the directory that its reader trusts and that it is below; "": none
	refuse error
}

// candidates are the places of a file as the compiler recorded it, the surest
// first. Builds with -trimpath record "MODULE@VERSION/REST", "MODULE/REST" for the
// main module and "PACKAGE/FILE" for the standard library (go help build); others
// the path of the machine that built.
func (f *Finder) candidates(name string) []candidate {
	var out []candidate
	add := func(dir, rest string, refuse error) {
		rest = filepath.FromSlash(rest)
		if dir != "" && filepath.IsLocal(rest) { // a name from outside may have ".." in it
			out = append(out, candidate{filepath.Join(dir, rest), dir, refuse})
		}
	}
	module, rest, versioned := ofModule(name)
	if f.Dir != "" && !versioned {
		f.underDir(name, add)
	}
	if versioned {
		add(f.ModCache, module+"/"+rest, nil)
		if f.Dir != "" {
			bare, _, _ := strings.Cut(module, "@")
			add(f.Dir, "vendor/"+bare+"/"+rest, nil)
		}
	}
	if path.IsAbs(name) {
		out = append(out, candidate{path: filepath.FromSlash(path.Clean(name))})
	}
	if std := ofStandard(name); std != "" && !versioned {
		add(f.GOROOT, "src/"+std, f.otherGo())
		for _, root := range f.toolchains() {
			add(root, "src/"+std, nil)
		}
	}
	return out
}

// underDir adds the file under the directory that the user named: the rest behind
// the main module's path, then ever shorter ends of the name.
func (f *Finder) underDir(name string, add func(dir, rest string, refuse error)) {
	if rest, ok := strings.CutPrefix(name, f.Module+"/"); ok && f.Module != "" {
		add(f.Dir, rest, nil)
	}
	for rest := strings.TrimPrefix(name, "/"); rest != ""; {
		add(f.Dir, rest, nil)
		var ok bool
		if _, rest, ok = strings.Cut(rest, "/"); !ok {
			return
		}
	}
}

// ofModule splits a name at the version of a module: "example.org/m@v1.2.3" as the
// module cache writes it, and the rest.
func ofModule(name string) (module, rest string, ok bool) {
	at := strings.Index(name, "@v")
	if at < 0 {
		return "", "", false
	}
	slash := strings.IndexByte(name[at:], '/')
	if slash < 0 {
		return "", "", false
	}
	module, rest = name[:at+slash], name[at+slash+1:]
	if strings.Contains(module, "golang.org/toolchain@") {
		return "", "", false // a GOROOT within the module cache
	}
	if _, inCache, found := strings.Cut(module, "/pkg/mod/"); found {
		return inCache, rest, true // escaped already
	}
	if path.IsAbs(name) {
		return "", "", false // another GOMODCACHE: as the machine that built has it
	}
	return escaped(module), rest, true
}

// escaped is a module's path as the module cache writes it: an upper-case letter
// is "!" and the lower-case one (golang.org/x/mod/module, EscapePath).
func escaped(path string) string {
	var out strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			out.WriteByte('!')
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}
	return out.String()
}

// ofStandard is a file of the standard library below GOROOT/src, "" if it is none:
// after "/src/" of a GOROOT, or a package without a dot in its first element.
func ofStandard(name string) string {
	if path.IsAbs(name) {
		for _, root := range []string{"/go/src/", "/src/"} {
			if _, rest, ok := strings.Cut(name, root); ok && standard(rest) {
				return rest
			}
		}
		return ""
	}
	if standard(name) {
		return name
	}
	return ""
}

// standard reports whether the go command keeps such paths for the standard library (go help importpath). A file without
// a directory is of package main.
func standard(name string) bool {
	first, _, ok := strings.Cut(name, "/")
	return ok && first != "" && !strings.Contains(first, ".")
}

// otherGo is why GOROOT is not the program's, nil if it is.
func (f *Finder) otherGo() error {
	text, err := os.ReadFile(filepath.Join(f.GOROOT, "VERSION"))
	if err != nil {
		return fmt.Errorf("of an unknown Go, the program is of %s: %w", f.GoVersion, ErrDiffers)
	}
	version, _, _ := strings.Cut(string(text), "\n")
	if version = strings.TrimSpace(version); version != f.GoVersion {
		return fmt.Errorf("of %s, the program is of %s: %w", version, f.GoVersion, ErrDiffers)
	}
	return nil
}

// toolchains are where the go command keeps the program's Go if it fetched it
// (go.dev/doc/toolchain): for whatever system, its source is the same.
func (f *Finder) toolchains() []string {
	if f.ModCache == "" || strings.Trim(f.GoVersion, "go.0123456789rcbeta") != "" {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(f.ModCache, "golang.org", "toolchain@v0.0.1-"+f.GoVersion+".*")) // the pattern is well-formed
	return found
}
