package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/highwater-go/highwater/internal/app"
)

// docsPages is where the page of each command is: docs/commands of the repository.
const docsPages = "https://github.com/highwater-go/highwater/blob/main/docs/commands/"

// tasks are what commands are for, in the order of help.
var tasks = []cobra.Group{
	{ID: "record", Title: "Record:"},
	{ID: "understand", Title: "Understand:"},
	{ID: "fix", Title: "Fix:"},
	{ID: "fleet", Title: "Many machines:"},
	{ID: "manage", Title: "Manage:"},
}

// How wide help is, where the terminal is that wide.
const leastHelp, mostHelp = 40, 100

// pageOf is the address of a command's page.
func pageOf(c *cobra.Command) string {
	if !c.HasParent() {
		return docsPages + "README.md"
	}
	for c.Parent().HasParent() { // completion's shells
		c = c.Parent()
	}
	return docsPages + c.Name() + ".md"
}

// describeCompletion gives cobra's own command our words.
func describeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // cobra has none any more
	}
	c.GroupID = "manage"
	c.Short = "Write the completion script of a shell"
	c.Long = `Writes a script that completes commands and flags, and the names of recordings,
their moments, PIDs and programs.`
	c.Example = `  source <(highwater completion bash)
  highwater completion bash > /etc/bash_completion.d/highwater
  highwater completion zsh > "${fpath[1]}/_highwater"`
}

// setHelp prints help by task, as wide as the terminal, with the address of the page.
func setHelp(root *cobra.Command, s *app.Streams) {
	root.SetHelpCommandGroupID("manage")
	for i := range tasks {
		root.AddGroup(&tasks[i])
	}
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = io.WriteString(s.Out, helpOf(c, helpWidth(s))) })
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(s.Out, usageOf(c, helpWidth(s)))
		return err
	})
}

func helpWidth(s *app.Streams) int {
	f := app.FileOf(s.Out)
	if !app.IsTTY(f) {
		return mostHelp
	}
	return min(max(app.Columns(f), leastHelp), mostHelp)
}

// helpOf is all that help says of a command.
func helpOf(c *cobra.Command, width int) string {
	about := c.Long
	if about == "" {
		about = c.Short
	}
	return reflowed(about, width) + "\n\n" + usageOf(c, width)
}

// usageOf is how a command is called.
func usageOf(c *cobra.Command, width int) string {
	var b strings.Builder
	part := func(title, text string) {
		if text != "" {
			b.WriteString(title + "\n" + strings.TrimRight(text, "\n") + "\n\n")
		}
	}
	use := c.UseLine()
	if c.HasSubCommands() {
		use = c.CommandPath() + " COMMAND"
	}
	part("Usage:", "  "+use)
	part("Examples:", c.Example)
	if c.HasSubCommands() {
		for _, g := range c.Groups() {
			part(g.Title, commandsOf(c, g.ID, width))
		}
	}
	part("Flags:", c.LocalFlags().FlagUsagesWrapped(width))
	if c.HasSubCommands() {
		b.WriteString(c.CommandPath() + " COMMAND --help says more of a command.\n")
	}
	b.WriteString("More: " + pageOf(c) + "\n")
	return b.String()
}

// orderKey is the annotation that has a command's place in help.
const orderKey = "order"

// commandsOf are the commands of a task, in the order of newRoot and cobra's own behind them.
func commandsOf(c *cobra.Command, group string, width int) string {
	var b strings.Builder
	place := func(c *cobra.Command) string { return cmp.Or(c.Annotations[orderKey], "~") }
	for _, one := range slices.SortedStableFunc(slices.Values(c.Commands()), func(a, b *cobra.Command) int { return cmp.Compare(place(a), place(b)) }) {
		if one.GroupID == group && one.IsAvailableCommand() {
			lines := folded(one.Short, width-14)
			b.WriteString("  " + one.Name() + strings.Repeat(" ", max(1, 12-len(one.Name()))) + strings.Join(lines, "\n"+strings.Repeat(" ", 14)) + "\n")
		}
	}
	return b.String()
}

// reflowed fills paragraphs to a width; lines that begin with a space stay.
func reflowed(text string, width int) string {
	var out []string
	for _, paragraph := range strings.Split(text, "\n\n") {
		if strings.Contains("\n"+paragraph, "\n ") {
			out = append(out, paragraph)
			continue
		}
		out = append(out, strings.Join(folded(paragraph, width), "\n"))
	}
	return strings.Join(out, "\n\n")
}

// folded breaks a text at spaces into lines of at most width columns, where that is possible.
func folded(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// formerly keeps an older name of a flag, which help does not show.
func formerly(flags *pflag.FlagSet, value *bool, name string) {
	flags.BoolVar(value, name, false, "")
	_ = flags.MarkHidden(name) // it is there
}
