// Command page bundles the page: it writes page.js.gz, page.css.gz and icon.svg.gz in
// internal/show/web/assets from the TypeScript, the style and the icon in internal/show/web/ui
// and the libraries in its vendor folder. It needs neither node nor network:
//
//	go run -C tools ./page
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	files, err := bundle(ui)
	for _, f := range files {
		if err == nil {
			err = f.write()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ui is the folder of the sources, from tools and from the module's root.
const ui = "../internal/show/web/ui"

// output is one file of the bundle.
type output struct {
	name string
	text []byte
}

// write compresses the file, with the same bytes each time.
func (f output) write() error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(f.text)
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	return os.WriteFile(f.name+".gz", b.Bytes(), 0o644)
}

// banner names what of the bundle others wrote.
const banner = `/* Highwater, Apache-2.0. With Preact 10.28.0, (c) 2015-present Jason Miller, MIT, and uPlot 1.6.32, (c) 2025 Leon Sorokin, MIT:
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.
THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */`

// bundle makes the files from the folder ui.
func bundle(ui string) ([]output, error) {
	dir, err := filepath.Abs(ui)
	if err != nil {
		return nil, err
	}
	vendor := filepath.Join(dir, "vendor")
	result := api.Build(api.BuildOptions{
		EntryPoints:       []string{filepath.Join(dir, "page.tsx")},
		Outfile:           filepath.Join(dir, "..", "assets", "page.js"),
		AbsWorkingDir:     dir,
		Bundle:            true,
		Format:            api.FormatIIFE,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		JSX:               api.JSXTransform,
		JSXFactory:        "h",
		JSXFragment:       "Fragment",
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone, // in the banner
		Banner:            map[string]string{"js": banner},
		Alias: map[string]string{
			"preact":       filepath.Join(vendor, "preact", "preact.js"),
			"preact/hooks": filepath.Join(vendor, "preact", "hooks.js"),
			"uplot":        filepath.Join(vendor, "uplot", "uPlot.js"),
		},
		TsconfigRaw: "{}", // tsconfig.json is for editors
	})
	var problems []error
	for _, m := range result.Errors {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d: ", m.Location.File, m.Location.Line)
		}
		problems = append(problems, errors.New(where+m.Text))
	}
	var files []output
	for _, f := range result.OutputFiles {
		files = append(files, output{f.Path, f.Contents})
	}
	icon, err := os.ReadFile(filepath.Join(dir, "icon.svg"))
	if err != nil {
		problems = append(problems, err)
	}
	files = append(files, output{filepath.Join(dir, "..", "assets", "icon.svg"), icon})
	return files, errors.Join(problems...)
}
