package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// The page's script and style, bundled by tools/page.
//
//go:embed assets/page.js assets/page.css assets/icon.svg
var assets embed.FS

// pageData fills the page's skeleton.
type pageData struct {
	Title string
	Root  string   // where assets/ lies from here
	Kind  string   // "book" of one recording, "list" of them, or "diff" of two
	Text  string   // the same in words, for browsers without script and until it runs
	Ahead []string // what the script will ask for, so that the browser need not wait for it
	// Of an offline page: everything is in it.
	Offline      bool
	Policy       string
	Script, Data template.JS
	Style        template.CSS
	Icon         template.URL
}

var skeleton = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{{- if .Offline}}
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
{{- end}}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}} - Highwater</title>
{{- if .Offline}}
<link rel="icon" href="{{.Icon}}">
<style>{{.Style}}</style>
{{- else}}
<link rel="icon" href="{{.Root}}/assets/icon.svg">
<link rel="stylesheet" href="{{.Root}}/assets/page.css">
{{- range .Ahead}}
<link rel="preload" as="fetch" crossorigin href="{{.}}">
{{- end}}
{{- end}}
</head>
<body>
<div id="page" data-kind="{{.Kind}}">
<main class="first"><h1>{{.Title}}</h1>
<pre>{{.Text}}</pre>
<noscript><p>{{if eq .Kind "list"}}The list needs JavaScript; <code>highwater list</code> prints it in a terminal.{{else}}This is the answer as text. The pictures need JavaScript; <code>highwater {{if eq .Kind "diff"}}diff{{else}}explain{{end}}</code> prints the same in a terminal.{{end}}</p></noscript>
</main>
</div>
{{- if .Offline}}
<script type="application/json" id="data">{{.Data}}</script>
<script>{{.Script}}</script>
{{- else}}
<script src="{{.Root}}/assets/page.js"></script>
{{- end}}
</body>
</html>
`))

func writePage(w io.Writer, d pageData) error { return skeleton.Execute(w, d) }

// offlinePage fills in what a page needs that stands alone. Its policy allows its
// own script and style by their hashes and nothing else: no address at all.
func offlinePage(d pageData, data []byte) (pageData, error) {
	d.Offline = true
	script, err := assets.ReadFile("assets/page.js")
	if err != nil {
		return d, err
	}
	style, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return d, err
	}
	icon, err := assets.ReadFile("assets/icon.svg")
	if err != nil {
		return d, err
	}
	if strings.Contains(strings.ToLower(string(script)), "</script") || strings.Contains(strings.ToLower(string(style)), "</style") {
		return d, fmt.Errorf("the bundle would end its own element")
	}
	// The bundle is ours; the data is JSON in which "<" is written as \u003c, as
	// encoding/json does.
	d.Script, d.Style, d.Data = template.JS(script), template.CSS(style), template.JS(data)
	d.Icon = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon))
	d.Policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style))
	return d, nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
