package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
)

// answer is what the judge reads of highwater.explain/1.
type answer struct {
	Outcome struct {
		State string `json:"state"`
	} `json:"outcome"`
	Verdict struct {
		Class      string   `json:"class"`
		Sentence   string   `json:"sentence"`
		Confidence string   `json:"confidence"`
		Culprit    *culprit `json:"culprit"`
		// Not in every version: nil and "" are not known.
		Readings *int  `json:"readings"`
		Trend    trend `json:"trend"`
	} `json:"verdict"`
}

type culprit struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	HeldBy   *struct {
		Path string `json:"path"`
		Type string `json:"type"`
	} `json:"held_by"`
}

// trend is a word, or an object that has it as its kind.
type trend string

// UnmarshalJSON reads either form.
func (t *trend) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) == nil {
		*t = trend(word)
		return nil
	}
	var object struct {
		Kind string `json:"kind"`
	}
	err := json.Unmarshal(text, &object)
	*t = trend(object.Kind)
	return err
}

// ask runs explain on one recording. Its code 4, inconclusive, is an answer.
func ask(ctx context.Context, tool, recording string) (a answer, err error) {
	c := exec.CommandContext(ctx, tool, "explain", "--json", recording)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 4) {
		return a, fmt.Errorf("explain %s: %w: %s", recording, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return a, json.Unmarshal(out, &a)
}
