package app

import (
	"time"

	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// PodIncident is an incident as JSON has it.
type PodIncident struct {
	Incident    string    `json:"incident"`
	At          time.Time `json:"at"`
	Kind        string    `json:"kind"`
	Service     string    `json:"service"`
	Version     string    `json:"version"`
	Node        string    `json:"node"`
	Namespace   string    `json:"namespace"`
	Pod         string    `json:"pod"`
	Container   string    `json:"container"`
	Image       string    `json:"image"` // "": not known
	Fingerprint string    `json:"fingerprint"`
	Class       string    `json:"class"`
	Confidence  string    `json:"confidence"`
	Sentence    string    `json:"sentence"`
	Cause       string    `json:"cause"`
	Where       string    `json:"where"`
	Limit       *uint64   `json:"limit_bytes"` // null: not known
	Peak        *uint64   `json:"peak_bytes"`
	Recording   string    `json:"recording"`
}

// PodIncidents are incidents as JSON has them, never a null list.
func PodIncidents(list []fleet.Incident) []PodIncident {
	out := []PodIncident{}
	for _, in := range list {
		out = append(out, PodIncident{Incident: in.Incident.String(), At: in.At, Kind: in.Kind, Service: in.Service, Version: in.Version, Node: in.Node,
			Namespace: in.Namespace, Pod: in.Pod, Container: in.Container, Image: in.Image,
			Fingerprint: in.Fingerprint, Class: in.Class, Confidence: in.Confidence, Sentence: in.Sentence, Cause: in.Cause, Where: in.Where(), Limit: known(in.Limit),
			Peak: known(in.Peak), Recording: in.Recording})
	}
	return out
}

func known(v sample.Opt[uint64]) *uint64 {
	if !v.OK {
		return nil
	}
	return &v.V
}

// PrintPod prints the last incident of each container of a pod, and how many there were.
func PrintPod(s *Streams, since string, pod fleet.Pod, list []fleet.Incident) {
	name := pod.Name
	if pod.Namespace != "" {
		name = pod.Namespace + "/" + pod.Name
	}
	if len(list) == 0 {
		visible.Fprintf(s.Out, "no incident of pod %s within %s\n", name, since)
		return
	}
	visible.Fprintf(s.Out, "pod %s: %s within %s\n", name, counted(uint64(len(list)), "incident", "incidents"), since)
	told := map[string]bool{}
	for _, in := range list { // the newest first
		if told[in.Container] {
			continue
		}
		told[in.Container] = true
		image := ""
		if in.Image != "" {
			image = " of image " + in.Image
		}
		visible.Fprintf(s.Out, "\n%s%s  %s  %s\n", orWord(in.Container, in.Service), image, in.Kind, in.At.Local().Format("2006-01-02 15:04:05"))
		visible.Fprintf(s.Out, "  %s\n", in.Sentence)
		if in.Cause != "" && in.Cause != in.Sentence {
			visible.Fprintf(s.Out, "  %s\n", in.Cause)
		}
		if in.Recording != "" {
			visible.Fprintf(s.Out, "  highwater explain %s\n", in.Incident.String()[:12])
		}
	}
}
