package main

import "fmt"

// setting is how a subject is run, and how tune is asked for it.
type setting struct {
	name string
	env  []string
	args []string // after the subject's own
	gcAt string
}

// subject is a program with a fixed amount of work. In its words {bin} is the folder
// of the programs, {dir} one that is new for each run.
type subject struct {
	name, pkg   string
	args        []string
	helper      []string          // a command of the same program that runs beside it
	beside      map[string]string // further programs to build: name, package
	before      string            // a shell command that makes what a run needs
	ready, load string            // as highwater run takes them
	base        []string          // environment of the run that is predicted from; nil: GOGC=100
	settings    []setting
}

func gogc(values ...int) (list []setting) {
	for _, v := range values {
		name := fmt.Sprintf("GOGC=%d", v)
		list = append(list, setting{name: name, env: []string{name}})
	}
	return list
}

func limits(values ...int) (list []setting) {
	for _, v := range values {
		name := fmt.Sprintf("GOMEMLIMIT=%dMiB", v)
		list = append(list, setting{name: name, env: []string{name}})
	}
	return list
}

func limitAlone(v int) setting {
	limit := fmt.Sprintf("GOMEMLIMIT=%dMiB", v)
	return setting{name: "GOGC=off " + limit, env: []string{"GOGC=off", limit}}
}

// recordedWith is the environment of the run that is predicted from.
func (s subject) recordedWith() []string {
	if s.base == nil {
		return []string{"GOGC=100"}
	}
	return s.base
}

var usual = gogc(10, 20, 50, 100, 200, 400)

// The ends of rangemirror, on ports that its tests do not use.
var mirrorEnds = []string{"-origin", "127.0.0.1:18701", "-store", "127.0.0.1:18702"}

var subjects = []subject{
	{
		name: "rangemirror", pkg: "./rangemirror", args: append([]string{"-fault", "defaults"}, mirrorEnds...),
		helper: append([]string{"serve"}, mirrorEnds...),
		settings: append(append(append([]setting{}, usual...), append(limits(400, 450, 600), limitAlone(600))...),
			setting{name: "runtime.GC() after each of 32 prefixes", args: []string{"-manual"}, gcAt: "32x"}),
	},
	{
		name: "cache", pkg: "./tuning/subject", args: []string{"cache"},
		settings: append(append([]setting{}, usual...), append(limits(150, 200), limitAlone(250))...),
	},
	{
		name: "inflate", pkg: "./tuning/subject", args: []string{"inflate"},
		settings: append(append([]setting{}, usual...), append(limits(200, 300), limitAlone(400))...),
	},
	// Held out: written when the model was finished, and nothing was learned from them.
	{
		name: "index", pkg: "./tuning/heldout", args: []string{"index"},
		settings: append(gogc(20, 50, 200), append(limits(180), limitAlone(250))...),
	},
	{
		name: "thumbs", pkg: "./tuning/heldout", before: "{bin}/heldout photos {dir}", args: []string{"thumbs", "{dir}"},
		settings: append(gogc(20, 50, 200), append(limits(140), limitAlone(220))...),
	},
	// Held out the second time, when the model had seen the two above.
	{
		name: "pages", pkg: "./tuning/heldout", args: []string{"pages"},
		settings: append(gogc(20, 50, 200, 400), append(limits(45), limitAlone(60))...),
	},
	{
		name: "orders", pkg: "./tuning/heldout", before: "{bin}/heldout tables {dir}", args: []string{"orders", "{dir}"},
		settings: append(gogc(20, 50, 200, 400), append(limits(50), limitAlone(70))...),
	},
	// Held out the third time, when the model knew of buffers that grow by copying.
	{
		name: "archives", pkg: "./tuning/heldout", args: []string{"archives"},
		settings: append(gogc(20, 50, 200, 400), append(limits(100), limitAlone(200))...),
	},
	// And once more, when archives had shown where that went too far.
	{
		name: "letters", pkg: "./tuning/heldout", args: []string{"letters"},
		settings: append(gogc(20, 50, 200, 400), append(limits(80), limitAlone(150))...),
	},
	// The other cases, with a load whose amount is fixed.
	{
		name: "picoshare", pkg: "./picoshare", beside: map[string]string{"picoshare-load": "./picoshare/load"},
		args:  []string{"-addr", "127.0.0.1:18703", "-data", "{dir}/data", "-secret", "tuning", "-fault", "form32"},
		ready: "18703", load: "{bin}/picoshare-load -url http://127.0.0.1:18703 -secret tuning -uploads 6 -parallel 2 -size 60 -downloads 1 -ranges 4",
		settings: append(gogc(20, 50, 200), limits(120)...),
	},
	{
		name: "trafficagent", pkg: "./trafficagent", before: "{bin}/trafficagent -write {dir}/traffic.pcap -requests 1000 traffic",
		args:     []string{"-read", "{dir}/traffic.pcap", "-fault", "visitor"},
		settings: append(gogc(20, 50, 200), limits(40)...),
	},
	{
		name: "objectsync", pkg: "./objectsync", args: []string{"-fault", "noseek", "-tables", "125"},
		base:     []string{"GOGC=50"}, // with 100 it collects seven times and is refused
		settings: append(gogc(20, 100, 200), limits(300)...),
	},
	{
		name: "raftcache", pkg: "./raftcache", beside: map[string]string{"raftcache-load": "./raftcache/load"},
		args:  []string{"-peers", "n1=127.0.0.1:18704=127.0.0.1:18705", "-data", "{dir}/n1", "-sync=false", "-fault", "deferloop"},
		ready: "18705", load: "{bin}/raftcache-load -nodes 127.0.0.1:18705 -clients 16 -sets 4000 -seconds 120",
		settings: append(gogc(20, 50, 200), limits(60)...),
	},
}
