package top

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// view is what the screen shows.
type view int

const (
	listView view = iota
	detailView
	pageView // a text: help, or an answer
)

// action is what a key asks of whoever runs the view.
type action int

const (
	nothing action = iota
	quit
	suspend
	keepMoment
	explainNow
)

// model is the view's state. It changes by keys and by what the board says, and is
// drawn by frame; it knows no terminal and no clock.
type model struct {
	how     string // it watches, for the first line
	now     time.Time
	rows    []Row // filtered and sorted
	all     int   // before the filter
	killed  int
	running int    // programs
	found   int    // programs that there are, where not all are watched
	message string // of the board
	notice  string // the answer to a key, until the next
	height  int    // of the last frame

	view     view
	before   view // of a page: where it goes back to
	selected id
	chosen   bool // by a key: else the first row is selected, whichever that is
	first    int  // of the rows, or of the text: what is scrolled away
	by       int  // of orders
	reverse  bool
	filter   string
	typing   bool // the filter

	detail *Detail
	lines  *Lines
	title  string   // of the page
	page   []string // its lines
}

// take takes in what the board shows now.
func (m *model) take(b *Board, now time.Time) {
	m.now, m.message = now, b.message(now)
	all := b.Rows(now)
	m.all, m.killed, m.rows = len(all), 0, m.rows[:0]
	m.running, m.found = 0, b.programs()
	for _, r := range all {
		if r.State == Runs && !r.Part {
			m.running++
		}
		if r.State == Killed {
			m.killed++
		}
		if r.matches(m.filter) {
			m.rows = append(m.rows, r)
		}
	}
	m.rows = sorted(m.rows, orders[m.by], m.reverse)
	if m.index() < 0 || !m.chosen {
		m.reselect()
	}
	if m.view == detailView {
		if d := b.Detail(m.selected, now); d != nil {
			m.detail = d
		}
	}
}

// index is the selected row's, -1 where there is none.
func (m *model) index() int {
	for i := range m.rows {
		if m.rows[i].id == m.selected {
			return i
		}
	}
	return -1
}

// reselect follows a Life whose row is another now, else goes to the first row.
func (m *model) reselect() {
	if m.view != listView {
		return
	}
	for i := range m.rows {
		if m.chosen && m.rows[i].life == m.selected.life {
			m.selected = m.rows[i].id
			return
		}
	}
	m.selected = id{}
	if len(m.rows) > 0 {
		m.selected = m.rows[0].id
	}
}

// show opens a page.
func (m *model) show(title, text string) {
	if m.view != pageView {
		m.before = m.view
	}
	m.view, m.title, m.first = pageView, title, 0
	m.page = strings.Split(strings.Trim(text, "\n"), "\n")
}

// key is what a key press does. Keys are named as in help.
func (m *model) key(k string) action {
	m.notice = ""
	if m.typing {
		m.typeFilter(k)
		return nothing
	}
	switch k {
	case "q", "ctrl-c":
		if k == "q" && m.view != listView {
			m.back()
			return nothing
		}
		return quit
	case "ctrl-z":
		return suspend
	case "?", "h":
		m.show("keys", help)
	case "esc", "left", "backspace":
		if m.view == listView {
			m.filter = ""
		}
		m.back()
	case "s", "e", "o":
		return m.about(k)
	default:
		m.move(k)
	}
	return nothing
}

// back leaves a page or a process.
func (m *model) back() {
	switch m.view {
	case pageView:
		m.view = m.before
	case detailView:
		m.view, m.detail, m.lines = listView, nil, nil
	}
	m.first = 0
}

// about is a key that is about the selected program.
func (m *model) about(k string) action {
	l := m.selected.life
	switch {
	case m.view == pageView:
	case l == nil:
		m.notice = "no program is selected"
	case k == "s":
		return keepMoment
	case k == "e":
		return explainNow
	default:
		m.notice = fmt.Sprintf("recording %s, in %s", l.Recording, filepath.Dir(l.Path))
	}
	return nothing
}

func (m *model) typeFilter(k string) {
	switch k {
	case "enter":
		m.typing = false
	case "esc", "ctrl-c":
		m.typing, m.filter = false, ""
	case "backspace":
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	default:
		if len([]rune(k)) == 1 {
			m.filter += k
		}
	}
	m.first = 0
}

// move is a key that goes somewhere.
func (m *model) move(k string) {
	step := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -m.height, "pgdn": m.height, " ": m.height,
		"home": -1 << 30, "g": -1 << 30, "end": 1 << 30, "G": 1 << 30}[k]
	if m.view != listView {
		m.first = max(0, m.first+step) // frame bounds it
		return
	}
	switch k {
	case "enter", "right":
		if m.index() >= 0 {
			m.chosen = true
			m.view, m.first, m.detail, m.lines = detailView, 0, nil, nil
		}
	case "/":
		m.typing, m.filter = true, ""
	case ">", ".":
		m.by = (m.by + 1) % len(orders)
	case "<", ",":
		m.by = (m.by + len(orders) - 1) % len(orders)
	case "r":
		m.reverse = !m.reverse
	}
	if i := m.index(); i >= 0 && step != 0 {
		m.chosen = true
		m.selected = m.rows[min(max(i+step, 0), len(m.rows)-1)].id
	}
}

// help is the page of the keys.
const help = `up down, k j, pgup pgdn, home end    go
enter     one program: its memory, the lines that allocated it, its GCs
q esc     back; in the list q quits: the programs keep running
s         take a snapshot now: heap profile, goroutines, the owner of each page
e         explain now: what highwater explain says of the recording so far
o         where the recording is
/         filter by name, command line or pid; esc: all
< >       sort by another column;  r  the other way round
ctrl-z    stop and detach; after fg the programs are watched again

FULL      memory usage of the cgroup against its limit or that of a parent
USED      of the program: memory usage where it is alone in its cgroup, else RSS
GROWTH    of what is not reclaimable, over the last 10 seconds if they
          show one, else over the last minutes; ~ not known yet
LIMIT IN  the time to the limit at that pace; - nothing grows, or no limit
GC        the share of GC in the CPU time of the last minute
5 MIN     the memory over the last five minutes, from its least to its greatest

A program that was killed stays, with what highwater explain says of it.
Recordings are kept with --record; highwater list shows them then.`

// frame draws all in width times height cells.
func (m *model) frame(w, h int) []line {
	if w < 1 || h < 1 {
		return nil
	}
	top, bottom := m.topLines(w), m.bottomLines(w)
	if h < len(top)+len(bottom)+1 {
		bottom = nil
	}
	m.height = max(1, h-len(top)-len(bottom))
	out := append(top, m.body(w, m.height)...)
	for len(out) < h-len(bottom) {
		out = append(out, line{})
	}
	out = append(out, bottom...)[:h]
	for i := range out {
		out[i] = out[i].cropped(w)
	}
	return out
}

func (m *model) topLines(w int) []line {
	name, note := "highwater top", m.summary()
	switch m.view {
	case pageView:
		note = m.title
	case detailView:
		note = ""
	}
	clock := m.now.Format("15:04:05")
	text := left(cut("highwater top  "+note, w-width(clock)-1), w-width(clock)-1) + " " + clock
	title := line{{name, bold}, {strings.TrimPrefix(text, name), 0}}
	if w < width(name)+width(clock)+2 {
		title = line{{cut(name, w), bold}}
	}
	if m.view == listView {
		return []line{title, header(orders[m.by].column, m.reverse, w)}
	}
	return []line{title, {}}
}

func (m *model) summary() string {
	programs := "programs"
	if m.all == 1 {
		programs = "program"
	}
	text := fmt.Sprintf("%d %s", m.all, programs)
	if m.found > m.running {
		text = fmt.Sprintf("the largest %d of %d programs", m.running, m.found)
	}
	if m.killed > 0 {
		text += fmt.Sprintf(", %d KILLED", m.killed)
	}
	if m.filter != "" && !m.typing {
		text += fmt.Sprintf("; %d match /%s", len(m.rows), m.filter)
	}
	return text + "; " + m.how
}

func (m *model) body(w, h int) []line {
	var all []line
	switch m.view {
	case pageView:
		for _, text := range m.page {
			for _, part := range hung(visible.Text(text), w) {
				all = append(all, pageLine(part))
			}
		}
	case detailView:
		if m.detail != nil {
			all = detailLines(m.detail, m.lines, m.now, w)
		}
	default:
		return m.listBody(w, h)
	}
	m.first = min(m.first, max(0, len(all)-h))
	return all[m.first:min(len(all), m.first+h)]
}

func (m *model) listBody(w, h int) (out []line) {
	if len(m.rows) == 0 {
		text := "waiting: programs are watched as they start"
		if m.all > 0 {
			text = "none matches /" + m.filter
		}
		return []line{{}, plain(cut(" "+text, w))}
	}
	if i := m.index(); i >= 0 {
		m.first = min(max(m.first, i-h+1), i)
	}
	m.first = min(m.first, max(0, len(m.rows)-h))
	for i := m.first; i < min(len(m.rows), m.first+h); i++ {
		l := tableLine(&m.rows[i], w)
		if m.rows[i].id == m.selected {
			l[0].text = ">"
			l = append(l, span{text: strings.Repeat(" ", max(0, w-width(l.String())))}).with(reversed)
		}
		out = append(out, l)
	}
	return out
}

// pageLine sets off a page's headings, which begin in the first column with capitals.
func pageLine(text string) line {
	word, _, _ := strings.Cut(text, " ")
	if len(word) > 2 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return line{{word, bold}, {text[len(word):], 0}}
	}
	return plain(text)
}

// bottomLines are what is said of the selected program, of the last key, and the keys.
func (m *model) bottomLines(w int) []line {
	var about []line
	switch {
	case m.typing:
		about = []line{{{"/" + m.filter, bold}, {"▏", 0}}}
	case m.notice != "":
		about = wrappedLines(m.notice, w)
	case m.message != "":
		about = wrappedLines(m.message, w)
	case m.view == listView:
		if i := m.index(); i >= 0 && m.rows[i].State != Runs {
			about = wrappedLines(string(m.rows[i].State)+" "+m.rows[i].Sentence, w)
		} else if i >= 0 {
			about = []line{{{cut(m.rows[i].Args, w), dim}}}
		}
	}
	keys := map[view]string{
		listView:   "enter lines  s moment  e explain  o recording  / filter  <> sort  ? help  q quit",
		detailView: "s moment now  e explain  o recording  up down scroll  ? help  q back",
		pageView:   "up down scroll  q back",
	}[m.view]
	return append(append([]line{{}}, about...), line{{cut(keys, w), dim}})
}

// wrappedLines is a text over at most three lines.
func wrappedLines(text string, w int) (out []line) {
	for _, l := range wrapped(text, w, 3) {
		out = append(out, plain(l))
	}
	return out
}
