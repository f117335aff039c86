// Mailmerge writes letters by text/template. The text of each is parsed as a template
// that is associated with the firm's layout, under a name of its own, and so the
// layout has all of them. Repaired, each letter has a clone of the layout.
package main

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"text/template"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const layoutText = `{{define "head"}}To {{.Name}}, {{.Street}}{{end}}{{define "foot"}}Yours sincerely, the Example company{{end}}`

type person struct{ Name, Street string }

type office struct {
	layout *template.Template
	people []person // 16 MiB
	page   bytes.Buffer
	clone  bool
	sent   int
}

func main() {
	f := frame.Parse()
	o := &office{layout: template.Must(template.New("layout").Parse(layoutText)), clone: f.Repaired}
	for i := range 100_000 {
		o.people = append(o.people, person{fmt.Sprintf("Mr. or Mrs. Example-%06d of the village", i), fmt.Sprintf("%d %s", i, strings.Repeat("Long ", 12))})
	}
	writer := strings.Repeat("We thank you for your letter of last week, and have read it. ", max(1, f.Unit/2/61))
	f.Each(func(i int) {
		if err := o.write(i, fmt.Sprintf("{{template \"head\" .}}\nNo. %d\n%s{{template \"foot\"}}", i, writer)); err != nil { // truth: makes
			log.Fatal(err)
		}
	})
	f.Stay()
}

// write makes a letter of a text that somebody wrote for one person.
func (o *office) write(number int, text string) error {
	layout := o.layout
	if o.clone {
		var err error
		if layout, err = layout.Clone(); err != nil {
			return err
		}
	}
	letter, err := layout.New(fmt.Sprintf("letter-%d", number)).Parse(text) // truth: allocates
	if err != nil {
		return err
	}
	o.page.Reset()
	if err := letter.Execute(&o.page, o.people[number%len(o.people)]); err != nil {
		return err
	}
	o.sent += o.page.Len()
	return nil
}
