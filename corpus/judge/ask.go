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
		State    string `json:"state"`
		ByKernel bool   `json:"killed_by_kernel"`
	} `json:"outcome"`
	Verdict struct {
		Class      string   `json:"class"`
		Sentence   string   `json:"sentence"`
		Confidence string   `json:"confidence"`
		Culprit    *culprit `json:"culprit"`
	} `json:"verdict"`
	Trend struct {
		State string `json:"state"`
	} `json:"trend"`

	readings *int // of the live heap, after the warm-up; nil: not asked
	weighed  []hypothesis
}

// hypothesis is a class whose evidence is weighed, and the sum of it.
type hypothesis struct {
	class string
	score float64 // log-odds
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

// ask runs explain on one recording, and asks how often the live heap was read.
func ask(ctx context.Context, tool, recording string) (a answer, err error) {
	var measured struct {
		Features []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
		} `json:"features"`
		Weighed []struct {
			Class string  `json:"class"`
			Score float64 `json:"score"`
		} `json:"weighed"`
		Judged []struct {
			Class  string `json:"class"`
			Stance string `json:"stance"`
		} `json:"judged"`
	}
	if err := explained(ctx, &a, tool, recording); err != nil {
		return a, err
	}
	if err := explained(ctx, &measured, tool, recording, "--features"); err != nil {
		return a, err
	}
	for _, f := range measured.Features {
		if n := int(f.Value); f.Name == "growth.readings" {
			a.readings = &n
		}
	}
	silent := map[string]bool{}
	for _, r := range measured.Judged {
		silent[r.Class] = r.Stance == "silent"
	}
	for _, w := range measured.Weighed {
		if !silent[w.Class] {
			a.weighed = append(a.weighed, hypothesis{w.Class, w.Score})
		}
	}
	return a, nil
}

// explained reads what explain says as JSON. Its code 4, inconclusive, is an answer.
func explained(ctx context.Context, into any, tool, recording string, flags ...string) error {
	c := exec.CommandContext(ctx, tool, append([]string{"explain", "--json", recording}, flags...)...)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 4) {
		return fmt.Errorf("explain %s: %w: %s", recording, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return json.Unmarshal(out, into)
}
