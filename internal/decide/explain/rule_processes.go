package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var processesPage = Page{
	Truth: "A program starts processes that do not end. Each needs little, and together they fill the memory.",
	Looks: []string{
		"How many processes of one parent and one program ran at the moment, when each was started, and how many of them had ended by then.",
		"Whether they were started one after another until the end, and not all at the beginning, as workers are.",
		"What they have together: more than half of the memory without page cache.",
	},
	Blind: []string{
		"The line that starts them: nothing of the parent holds their memory. The answer names the parent and the command.",
		"Processes whose parent ended first: they have another parent then.",
	},
	Example: "plugins that nobody ends",
}

// siblings is the processes of one program that one parent started and that ran at the moment.
type siblings struct {
	parent int
	name   string
	args   []string
	keys   []sample.ProcessKey
	bytes  sample.Bytes
	starts []time.Time // of those, by time
	ended  int         // others of the same parent and program that had ended by then
}

// command is what started them: "convertd -plugin".
func (b *siblings) command() string {
	if len(b.args) < 2 {
		return b.name
	}
	return b.name + " " + strings.Join(b.args[1:], " ")
}

// largestSiblings is the one with most memory, nil where nothing has a parent that is known.
func (c *Case) largestSiblings() (most *siblings) {
	all := map[string]*siblings{}
	id := func(p *sample.Program) string { return fmt.Sprintf("%d %s", p.Parent, p.Name) }
	for _, m := range c.Moment.Processes {
		p := c.program(m.Key)
		if p == nil || c.besideRow(m.Key) != "" {
			continue
		}
		b := all[id(p)]
		if b == nil {
			b = &siblings{parent: p.Parent, name: p.Name, args: p.Args}
			all[id(p)] = b
		}
		b.keys, b.bytes = append(b.keys, m.Key), b.bytes+anonOf(m)
		if !slices.Equal(b.args, p.Args) {
			b.args = nil
		}
		if most == nil || b.bytes > most.bytes {
			most = b
		}
	}
	if most != nil && len(most.keys) >= int(fewestProcesses.v()) {
		c.lifeOf(most)
	}
	return most
}

// lifeOf notes when those that run were started, and how many others ended by themselves.
func (c *Case) lifeOf(b *siblings) {
	kin, killed := map[sample.ProcessKey]bool{}, map[sample.ProcessKey]bool{}
	for i := range c.Programs {
		if p := &c.Programs[i]; p.Parent == b.parent && p.Name == b.name {
			kin[p.Key] = true
		}
	}
	for _, ev := range c.Events {
		switch {
		case !kin[ev.Process] || ev.At.After(c.Moment.At):
		case ev.Kind == sample.EventOOMKill:
			killed[ev.Process] = true
		case ev.Kind == sample.EventExit && !killed[ev.Process]:
			b.ended++
		case ev.Kind == sample.EventStart && slices.Contains(b.keys, ev.Process):
			b.starts = append(b.starts, ev.At)
		}
	}
}

// pilesUp reports whether they were started one after another: a third of them in the second half of the time since the first, and the last
// in its last third. Workers that are started together, or as they are needed until there are enough, are not.
func (b *siblings) pilesUp(now time.Time) bool {
	if len(b.starts) < int(fewestProcesses.v()) || len(b.starts) < len(b.keys) {
		return false
	}
	first, last := b.starts[0], b.starts[len(b.starts)-1]
	late := 0
	for _, at := range b.starts {
		if at.Sub(first) > now.Sub(first)/2 {
			late++
		}
	}
	return now.Sub(last) < now.Sub(first)/3 && late*3 >= len(b.starts)
}

// judgeProcesses speaks where children of one program pile up.
func judgeProcesses(c *Case) Finding {
	b := c.largestSiblings()
	if b == nil || len(b.keys) < int(fewestProcesses.v()) {
		return minor("few processes of one program ran at the same time")
	}
	hard := c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache))
	facts := []Fact{c.factShares(), c.factLedger()}
	switch {
	case float64(b.bytes) < heldByRoot.v()*float64(hard):
		return silent(fmt.Sprintf("%d processes of %s had only %s of %s", len(b.keys), b.name, size(b.bytes), size(hard)), facts...)
	case !c.pressed && float64(b.bytes) < leastSpike.v():
		return silent("memory usage stayed well below the limit", facts...)
	case b.ended*4 > len(b.keys):
		return silent(fmt.Sprintf("%d processes of %s had ended", b.ended, b.name), facts...)
	case !b.pilesUp(c.Moment.At):
		return silent(fmt.Sprintf("the processes of %s were not started one after another until the %s", b.name, c.momentName()), facts...)
	}
	took := c.Moment.At.Sub(b.starts[0]).Seconds()
	f := Finding{Stance: Speaks, Bytes: b.bytes, Facts: facts, Confidence: High,
		Because: []string{fmt.Sprintf("%d of these processes had ended in %s", b.ended, seconds(took))}}
	if took < longestFirstRise.v() {
		f.Confidence, f.Because = Medium, append([]string{doubtShortWatch}, f.Because...)
	}
	by := fmt.Sprintf("pid %d", b.parent)
	if i := slices.IndexFunc(c.Programs, func(p sample.Program) bool { return p.Key.PID == b.parent }); i >= 0 {
		by = c.nameOf(c.Programs[i].Key)
	}
	ended := "None of these processes had ended."
	if b.ended > 0 {
		ended = fmt.Sprintf("Only %d other processes had ended.", b.ended)
	}
	f.Sentence = fmt.Sprintf("%d processes of %s used %s together. %s started them one after another, in %s. %s", len(b.keys), b.command(), size(b.bytes),
		by, seconds(took), ended)
	f.Detail = "Processes pile up."
	f.Why = []Why{{Text: fmt.Sprintf("each needs about %s, and keeps that until it ends", size(b.bytes/sample.Bytes(len(b.keys)))), Evidence: []string{"shares"}}}
	return f
}
