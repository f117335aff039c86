package app

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/highwater-go/highwater/internal/show/report"
)

// look is how pages are printed here: as wide as the terminal, coloured and linked where it can
// do that, in ASCII where the locale has no UTF-8. Elsewhere, 100 columns of plain text.
func (s *Streams) look() report.Options {
	o := report.Options{Color: s.color(), ASCII: !hasUTF8(os.Getenv)}
	if f := FileOf(s.Out); IsTTY(f) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = width
		}
	}
	if s.color() {
		o.Link = linkOf(os.Getenv("HIGHWATER_LINKS"))
	}
	return o
}

// hasUTF8 says whether the locale of the environment has UTF-8: the first of these variables
// that is set decides (POSIX, 8.2). None is as on a fresh machine or in a CI job: UTF-8.
func hasUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// linkOf is the address of a line of a file by the scheme that the reader chose: "file", which is
// also "", "vscode", "idea", or an address with {file} and {line} in it. "off": nil. What is not on
// this machine, or lies elsewhere than in the user's own folders, has none: a recording may be a
// stranger's, and to look at a path of his could mount what he names.
func linkOf(scheme string) func(file string, line int) string {
	form := map[string]string{"": "file://{host}{file}", "file": "file://{host}{file}", "vscode": "vscode://file{file}:{line}",
		"idea": "idea://open?file={file}&line={line}"}[scheme]
	switch {
	case scheme == "off":
		return nil
	case form == "" && strings.Contains(scheme, "{file}"):
		form = scheme
	case form == "":
		return nil
	}
	host, _ := os.Hostname()
	return func(file string, line int) string {
		if !underOwn(file) {
			return ""
		}
		if _, err := os.Stat(file); err != nil {
			return ""
		}
		path := (&url.URL{Path: file}).EscapedPath()
		return strings.NewReplacer("{host}", host, "{file}", path, "{line}", strconv.Itoa(line)).Replace(form)
	}
}

// underOwn says whether a file lies in the working or the home directory.
func underOwn(file string) bool {
	file = filepath.Clean(file)
	here, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	for _, root := range []string{here, home} {
		if len(root) > 1 && strings.HasPrefix(file, filepath.Clean(root)+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
