// Freeze measures the recordings of the corpus and keeps the measurements, a few hundred
// bytes each, for the tests of internal/decide/explain: what is decided from them can be looked
// at without the recordings.
//
//	freeze [-tool FILE] [-dir DIR] -o FILE
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Vector is one recording: what is true of it, and what was measured.
type Vector struct {
	Name     string             `json:"name"`
	Faulty   bool               `json:"faulty"`
	Classes  []string           `json:"classes"` // that are right
	Features map[string]float64 `json:"features"`
}

func main() {
	log.SetFlags(0)
	tool := flag.String("tool", "../bin/highwater", "the highwater to measure with")
	dir := flag.String("dir", "", "where recordings are")
	out := flag.String("o", "", "write the vectors to this file")
	flag.Parse()
	list, err := freeze(*tool, *dir)
	if err == nil && *out == "" {
		err = fmt.Errorf("name the file to write with -o")
	}
	if err == nil {
		err = write(*out, list)
	}
	if err != nil {
		log.Fatal("freeze: ", err)
	}
}

func freeze(tool, dir string) ([]Vector, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.hwm"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no recordings in %q: make corpus makes them", dir)
	}
	var list []Vector
	for _, file := range files {
		v, err := vectorOf(tool, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		list = append(list, v)
	}
	return list, nil
}

func vectorOf(tool, file string) (v Vector, err error) {
	text, err := os.ReadFile(strings.TrimSuffix(file, ".hwm") + ".truth.json")
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return v, fmt.Errorf("read what is true of it: %w", err)
	}
	out, err := exec.Command(tool, "explain", "--features", "--json", file).Output()
	if err != nil {
		return v, fmt.Errorf("measure it: %w", err)
	}
	var m struct {
		Features []struct {
			Name    string
			Value   float64
			Missing string
		}
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return v, fmt.Errorf("read the measurements: %w", err)
	}
	v.Features = map[string]float64{}
	for _, f := range m.Features {
		if f.Missing == "" {
			v.Features[f.Name] = f.Value
		}
	}
	return v, nil
}

// write keeps a line for each recording, so that a change shows which moved.
func write(path string, list []Vector) error {
	var b strings.Builder
	for _, v := range list {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
