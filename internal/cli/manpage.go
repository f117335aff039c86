package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/highwater-go/highwater/internal/app"
)

// manPage is the manual page of a command, in the macros of man(7), from what its help says. cobra makes pages
// by way of Markdown, whose parser and tables are 250 KB of the program (docs/adr/0171).
func manPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var p manWriter
	name := manName(c)
	p.WriteString(fmt.Sprintf(".TH \"%s\" \"1\" \"%s\" \"highwater %s\" \"\"\n", strings.ToUpper(name), manDate(), app.Version()))
	p.macro("nh")
	p.macro("SH", "NAME")
	p.text(name + " - " + c.Short)
	p.macro("SH", "SYNOPSIS")
	p.text(c.UseLine())
	p.macro("SH", "DESCRIPTION")
	p.prose(c.Long)
	p.options("OPTIONS", c.NonInheritedFlags())
	p.options("OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		p.macro("SH", "EXAMPLES")
		p.asItIs(strings.Split(c.Example, "\n"))
	}
	var also []string
	if c.HasParent() {
		also = append(also, manName(c.Parent())+"(1)")
	}
	for _, below := range withPages(c) {
		also = append(also, manName(below)+"(1)")
	}
	if len(also) > 0 {
		p.macro("SH", "SEE ALSO")
		p.text(strings.Join(also, ", "))
	}
	return p.String()
}

// manName is the name of a command's page: "highwater-fleet-top".
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// withPages are the commands below one that have pages.
func withPages(c *cobra.Command) (list []*cobra.Command) {
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
			list = append(list, below)
		}
	}
	return list
}

// manDate is today, or the day that SOURCE_DATE_EPOCH says, so that a release can be made twice.
func manDate() string {
	at := time.Now()
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		at = time.Unix(s, 0)
	}
	return at.UTC().Format("Jan 2006")
}

// manWriter writes lines of roff. No text can become a request of it.
type manWriter struct{ strings.Builder }

var roff = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", "\\`", `^`, `\(ha`, `~`, `\(ti`)

func (p *manWriter) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		p.WriteString(` "` + strings.ReplaceAll(roff.Replace(a), `"`, `\(dq`) + `"`)
	}
	p.WriteString("\n")
}

func (p *manWriter) text(line string) {
	line = roff.Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	p.WriteString(line + "\n")
}

// prose writes paragraphs; lines that are indented stay lines, and "#### Linux:" is a heading, as cobra
// has them in the help of its completion.
func (p *manWriter) prose(text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 0; i < len(lines); i++ {
		switch line := lines[i]; {
		case line == "":
			p.macro("PP")
		case strings.HasPrefix(line, "####"):
			p.macro("SS", strings.TrimSpace(strings.TrimLeft(line, "#")))
		case line[0] == ' ' || line[0] == '\t':
			from := i
			for i+1 < len(lines) && lines[i+1] != "" && (lines[i+1][0] == ' ' || lines[i+1][0] == '\t') {
				i++
			}
			p.asItIs(lines[from : i+1])
		default:
			p.text(line)
		}
	}
}

func (p *manWriter) asItIs(lines []string) {
	p.macro("EX")
	for _, line := range lines {
		p.text(strings.ReplaceAll(line, "\t", "    "))
	}
	p.macro("EE")
}

func (p *manWriter) options(heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.macro("SH", heading)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB\-\-` + roff.Replace(f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB\-` + f.Shorthand + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + roff.Replace(value) + `\fR`
		}
		p.macro("TP")
		p.WriteString(name + "\n")
		p.text(usage)
	})
}
