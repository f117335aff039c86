package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
)

// The page's script and style, bundled and compressed by tools/page.
//
//go:embed assets
var assets embed.FS

// asset is a file of the page, fs.ErrNotExist where the page has no such file.
func asset(name string) ([]byte, error) {
	zipped, err := assets.ReadFile("assets/" + name + ".gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// pageData fills the page's skeleton. What is text in it is escaped by writePage.
type pageData struct {
	Title string
	Root  string   // where assets/ lies from here
	Kind  string   // "book" of one recording, "list" of them, "diff" of two, or "fleet"
	Text  string   // the same in words, for browsers without script and until it runs
	Ahead []string // what the script will ask for, so that the browser need not wait for it
	// Of an offline page: everything is in it. None of it is text: each is what its element holds.
	Offline             bool
	Policy              string
	Script, Data, Style []byte
	Icon                string // an address
}

// noScript says what to do without JavaScript, for each kind of page.
var noScript = map[string]string{
	"list":  `The list needs JavaScript; <code>highwater list</code> prints it in a terminal.`,
	"fleet": `This is the answer as text. The tables need JavaScript; <code>highwater fleet top</code> and <code>highwater fleet incidents</code> print the same in a terminal.`,
	"book":  `This is the answer as text. The pictures need JavaScript; <code>highwater explain</code> prints the same in a terminal.`,
	"diff":  `This is the answer as text. The pictures need JavaScript; <code>highwater diff</code> prints the same in a terminal.`,
}

// writePage writes the page's skeleton. It is written by hand, as html/template has the
// linker keep every exported method of the program (docs/adr/0119).
func writePage(w io.Writer, d pageData) error {
	var b bytes.Buffer
	text := html.EscapeString
	add := func(form string, parts ...any) { fmt.Fprintf(&b, form, parts...) }
	add("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	if d.Offline {
		add("<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", text(d.Policy))
	}
	add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	add("<title>%s - Highwater</title>\n", text(d.Title))
	if d.Offline {
		add("<link rel=\"icon\" href=\"%s\">\n<style>%s</style>\n", text(d.Icon), d.Style)
	} else {
		add("<link rel=\"icon\" href=\"%s/assets/icon.svg\">\n<link rel=\"stylesheet\" href=\"%[1]s/assets/page.css\">\n", text(d.Root))
	}
	for _, address := range d.Ahead {
		add("<link rel=\"preload\" as=\"fetch\" crossorigin href=\"%s\">\n", text(address))
	}
	add("</head>\n<body>\n<div id=\"page\" data-kind=\"%s\">\n", text(d.Kind))
	add("<main class=\"first\"><h1>%s</h1>\n<pre>%s</pre>\n<noscript><p>%s</p></noscript>\n</main>\n</div>\n", text(d.Title), text(d.Text), noScript[d.Kind])
	if d.Offline {
		add("<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n", d.Data, d.Script)
	} else {
		add("<script src=\"%s/assets/page.js\"></script>\n", text(d.Root))
	}
	add("</body>\n</html>\n")
	_, err := b.WriteTo(w)
	return err
}

// offlinePage fills in what a page needs that stands alone. Its policy allows its
// own script and style by their hashes and nothing else: no address at all.
func offlinePage(d pageData, data []byte) (pageData, error) {
	d.Offline = true
	script, err := asset("page.js")
	if err != nil {
		return d, err
	}
	style, err := asset("page.css")
	if err != nil {
		return d, err
	}
	icon, err := asset("icon.svg")
	if err != nil {
		return d, err
	}
	if strings.Contains(strings.ToLower(string(script)), "</script") || strings.Contains(strings.ToLower(string(style)), "</style") {
		return d, fmt.Errorf("the bundle would end its own element")
	}
	// The bundle is ours; the data is JSON in which "<" is written as \u003c, as
	// encoding/json does.
	d.Script, d.Style, d.Data = script, style, data
	d.Icon = "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon)
	d.Policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style))
	return d, nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
