package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// besideLimit is how long a tool may take for an answer.
const besideLimit = 150 * time.Second

// asked is a program that several tools are asked about.
type asked struct {
	*room
	program        *program
	what           string // the program, in words
	objects, bytes uint64 // what it keeps, by its own account
	stood          string // URL at which it says how long it stood
	core           string // file, once there is one
}

// answered is what one way to ask gave.
type answered struct {
	stood time.Duration // the longest that the program stood still
	took  time.Duration // from the command to its answer
	peak  sample.Bytes  // of the tool's memory, 0 if it matters to none
	live  uint64        // bytes that it calls live, 0 if it does not say
	says  string        // what is in the answer
}

// way is one way to find out who holds the memory of a program.
type way struct {
	name  string
	stops bool   // asks the program itself, not a core
	floor string // ours, "" for other tools
	ask   func(*asked) (*answered, error)
}

// ways are in this order because a core must be there to be read, and because goref, which
// is killed if it takes too long, may leave the program anyhow.
var ways = []way{
	{"`highwater heap PID`", true, "stands under 150 ms, nothing live is missed", (*asked).highwater},
	{"`gcore PID`", true, "", (*asked).gcore},
	{"`viewcore` of that core", false, "", (*asked).viewcore},
	{"`highwater heap` of that core", false, "nothing live is missed", (*asked).highwaterOfCore},
	{"`grf attach PID` (goref)", true, "", (*asked).goref},
}

// beside asks other tools about the programs that heap is asked about, and about
// one whose memory only a map leads to. They are used where they are installed.
func beside(r *room) ([]row, error) {
	small, err := r.ask("heap", 3_600_000)
	if err != nil {
		return nil, err
	}
	large, err := r.ask("heap", 12_000_000)
	if err != nil {
		return nil, err
	}
	behindMap, err := r.ask("map", 1_200_000)
	return append(append(small, large...), behindMap...), err
}

// ask asks about one program in every way. A tool that fails or is not there has
// its row, with the reason.
func (r *room) ask(do string, objects int) (rows []row, err error) {
	a, err := r.startAsked(do, r.least(objects))
	if err != nil {
		return nil, err
	}
	defer a.end()
	for _, w := range ways {
		made := row{What: fmt.Sprintf("Side by side, %s: %s", a.what, w.name), Floor: w.floor, Figure: "no answer"}
		if answer, err := a.try(w); err != nil {
			made.More = err.Error()
		} else {
			a.fill(&made, answer)
		}
		made.Pass = made.Pass || w.floor == ""
		rows = append(rows, made)
	}
	return rows, nil
}

func (r *room) startAsked(do string, objects int) (*asked, error) {
	p, err := start(r.target, "-tick", "-do", do, "-objects", strconv.Itoa(objects))
	if err != nil {
		return nil, err
	}
	a := &asked{room: r, program: p}
	var address, line string
	if address, err = p.line("ready"); err == nil {
		line, err = p.line("heap")
	}
	if err == nil {
		_, err = fmt.Sscan(line, &a.objects, &a.bytes)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	a.stood = "http://" + address + "/stood"
	a.what = fmt.Sprintf("%.2f GB of %.1f million objects", float64(a.bytes)/1e9, float64(a.objects)/1e6)
	if do == "map" {
		a.what += " behind one map"
	}
	return a, nil
}

func (a *asked) end() {
	a.program.stop()
	_ = os.Remove(a.coreFile()) // perhaps there is none
}

func (a *asked) coreFile() string {
	return filepath.Join(a.dir, fmt.Sprintf("core.%d", a.program.pid()))
}

// try asks in one way, while the program watches how long it stands.
func (a *asked) try(w way) (*answered, error) {
	if _, err := a.longestStop(); err != nil {
		return nil, err
	}
	if err := touchAll(sample.Bytes(a.objects) * answerAnObject); err != nil {
		return nil, err
	}
	answer, failed := w.ask(a)
	if !w.stops || errors.Is(failed, exec.ErrNotFound) {
		return answer, failed
	}
	stood, err := a.longestStop()
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", err, failed)
	}
	if failed != nil {
		return nil, fmt.Errorf("%w; the program stood %s meanwhile", failed, seconds(stood))
	}
	answer.stood = stood
	return answer, nil
}

// longestStop is how long the program stood since it was asked last.
func (a *asked) longestStop() (time.Duration, error) {
	client := http.Client{Timeout: 30 * time.Second}
	resp, err := client.Get(a.stood)
	if err != nil {
		return 0, fmt.Errorf("the program does not answer: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(ns), err
}

// fill says in a row what an answer took and holds.
func (a *asked) fill(r *row, answer *answered) {
	r.Figure, r.More = "answers after "+seconds(answer.took), answer.says
	if answer.stood > 0 {
		r.Figure = fmt.Sprintf("stands %s, %s", seconds(answer.stood), r.Figure)
	}
	if answer.peak > 0 {
		r.More = fmt.Sprintf("%.2f GB of memory; %s", float64(answer.peak)/1e9, r.More)
	}
	if answer.live > 0 {
		r.More = fmt.Sprintf("finds %.1f %% of the live bytes; %s", 100*float64(answer.live)/float64(a.bytes), r.More)
	}
	r.Pass = answer.stood < heapStopFloor && answer.live > a.bytes/100*99 && answer.live < a.bytes/100*101
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return milliseconds(d)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
