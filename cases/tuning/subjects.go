package main

import "fmt"

// setting is how a subject is run, and how tune is asked for it.
type setting struct {
	name string
	env  []string
	args []string // after the subject's own
	gcAt string
}

// subject is a program with a fixed amount of work.
type subject struct {
	name, pkg string
	args      []string
	helper    []string // a command of the same program that runs beside it
	settings  []setting
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
}
