package app

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// FleetFlags are those of a question.
type FleetFlags struct {
	StoreFlags
	Since string
	JSON  bool
}

// ParseSince reads a time that may be in days or weeks.
func ParseSince(text string) (time.Duration, error) {
	unit := time.Duration(0)
	switch {
	case strings.HasSuffix(text, "d"):
		unit = 24 * time.Hour
	case strings.HasSuffix(text, "w"):
		unit = 7 * 24 * time.Hour
	}
	if unit > 0 {
		n, err := strconv.ParseFloat(text[:len(text)-1], 64)
		if d := time.Duration(n * float64(unit)); err == nil && n > 0 && n <= 5200 {
			return d, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, Usagef("--since 24h, --since 7d, --since 4w", "--since %s is not a length of time", text)
}

func NewCauses(list []fleet.Cause) []fleet.Cause {
	kept := []fleet.Cause{}
	for _, one := range list {
		if one.Status != fleet.StatusKnown {
			kept = append(kept, one)
		}
	}
	return kept
}

func (s *Streams) PrintJSON(v any) error {
	e := json.NewEncoder(s.Out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintTop prints a line for each line of code.
func PrintTop(s *Streams, since string, f *fleet.Fleet) error {
	if f.To.IsZero() {
		visible.Fprintf(s.Out, "no heap profile was kept within %s; %s without one\n", since, counted(f.Silent, "process is", "processes are"))
		return nil
	}
	visible.Fprintf(s.Out, "%s seen of %s: %s, %s; %s no heap profile\n", units.Duration(f.To.Sub(f.From)), since, counted(f.Services, "service", "services"),
		counted(f.Processes, "process", "processes"), counted(f.Silent, "process keeps", "processes keep"))
	if len(f.Lines) == 0 {
		visible.Fprintf(s.Out, "no line grew\n")
		return nil
	}
	var cells, table strings.Builder
	fmt.Fprintf(&cells, "SERVICE\tGROWTH\tIN A PROCESS\tSINCE\tPROCESSES\tKILLS\tLINE\n")
	for _, g := range f.Lines {
		fmt.Fprintf(&cells, "%s\t%s\t%s to %s\t%s\t%d\t%d\t%s\n", visible.Text(g.Service), units.Delta(int64(g.Bytes())), units.Size(int64(g.From)),
			units.Size(int64(g.To)),
			visible.Text(orDash(g.Since)), g.Pods, g.Kills, visible.Text(lineOf(g)))
	}
	w := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	if _, err := io.WriteString(w, cells.String()); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(table.String()) {
		visible.Fprintf(s.Out, "%s\n", strings.TrimRight(line, " \n"))
	}
	return nil
}

// lineOf names a line as answers do.
func lineOf(g fleet.Growth) string {
	if g.File == "" {
		return g.Function
	}
	return fmt.Sprintf("%s:%d  %s", explain.ShortFile(g.File), g.Line, explain.ShortFunc(g.Function))
}

func counted(n uint64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(n, 10) + " " + several
}

func PrintCauses(s *Streams, since string, list []fleet.Cause) error {
	if len(list) == 0 {
		visible.Fprintf(s.Out, "no incident within %s\n", since)
		return nil
	}
	for i, c := range list {
		if i > 0 {
			visible.Fprintf(s.Out, "\n")
		}
		status := string(c.Status)
		if c.Since != "" {
			status += " in " + c.Since
			if c.Status == fleet.StatusKnown {
				status = "known since " + c.Since
			}
		}
		visible.Fprintf(s.Out, "%s  %s  %s, %s in %s, last %s\n", c.Service, orWord(shortCause(c.Fingerprint, list), c.Class), status,
			counted(c.Count, "incident", "incidents"), counted(uint64(c.Pods), "pod", "pods"), c.At.Local().Format("2006-01-02 15:04:05"))
		visible.Fprintf(s.Out, "  %s\n", c.Sentence)
		if c.Cause != "" && c.Cause != c.Sentence {
			visible.Fprintf(s.Out, "  %s\n", c.Cause)
		}
		visible.Fprintf(s.Out, "  highwater explain %s\n", c.Newest[:12])
	}
	return nil
}

// shortCause is a fingerprint as answers show it, or more of it where another begins so.
func shortCause(fingerprint string, all []fleet.Cause) string {
	const shown = len("hw-") + 6
	if len(fingerprint) <= shown {
		return fingerprint
	}
	for _, other := range all {
		if other.Fingerprint != fingerprint && strings.HasPrefix(other.Fingerprint, fingerprint[:shown]) {
			return fingerprint
		}
	}
	return fingerprint[:shown]
}

func orWord(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// mayBeIncident says that an argument is as long as the beginning of an incident's ID, and of its digits.
func mayBeIncident(name string) bool {
	if len(name) < 8 || len(name) > 32 {
		return false
	}
	_, err := hex.DecodeString(name + strings.Repeat("0", len(name)%2))
	return err == nil
}

// incidentRecording is the recording of an incident whose ID an argument begins; ok is false where the argument
// cannot be one, or no store is named.
func (f StoreFlags) incidentRecording(ctx context.Context, name string) (path string, ok bool, err error) {
	if f.Address == "" || !mayBeIncident(name) {
		return "", false, nil
	}
	store, err := f.Open()
	if err != nil {
		return "", true, err
	}
	defer store.Close()
	in, err := fleet.Find(ctx, store, f.Tenant, name)
	if err != nil {
		return "", true, StoreError(err)
	}
	if in.Recording == "" {
		return "", true, &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("incident %s has no recording: %s", in.Incident, in.Sentence),
			Hint: "highwater fleet incidents " + visible.Shell(in.Service) + " says all that is known of it"}
	}
	path, err = fetchRecording(ctx, f, in)
	return path, true, err
}

// fetchRecording is the recording of an incident on this machine: fetched from its bucket, once.
func fetchRecording(ctx context.Context, f StoreFlags, in fleet.Incident) (string, error) {
	u, err := url.Parse(in.Recording)
	if err != nil {
		return "", fmt.Errorf("the recording of incident %s is at %q, which is no address", in.Incident, in.Recording)
	}
	switch u.Scheme {
	case "file":
		if _, err := os.Stat(u.Path); errors.Is(err, os.ErrNotExist) {
			return "", &ExitError{Code: ExitFailed, Err: fmt.Errorf("the recording of incident %s has gone from %s; what happened: %s", in.Incident, u.Path,
				in.Sentence), Hint: "it is on " + in.Node}
		}
		return u.Path, nil
	case "s3":
	default:
		return "", fmt.Errorf("the recording of incident %s is at %s, which this version cannot fetch", in.Incident, in.Recording)
	}
	dir, err := makeStateDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, fileName(in.Service)+"-"+in.Incident.String()[:12]+Suffix)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	bucket, err := (BucketFlags{}).bucket("s3://"+u.Host, f)
	if err != nil {
		return "", err
	}
	defer bucket.Close()
	var recorded bytes.Buffer
	switch err = bucket.Get(ctx, in.Recording, &recorded); {
	case errors.Is(err, fleet.ErrNoObject):
		return "", &ExitError{Code: ExitFailed, Err: fmt.Errorf("the recording of incident %s has gone from %s; what happened: %s", in.Incident, in.Recording,
			in.Sentence), Hint: "highwater fleet incidents " + visible.Shell(in.Service) + " says all that is known of it"}
	case errors.Is(err, fleet.ErrCredentials):
		return "", &ExitError{Code: exitNotPermitted, Err: err, Hint: BucketKeysVariable + " names a file with ACCESS_KEY:SECRET_KEY"}
	case err != nil:
		return "", err
	case uint64(recorded.Len()) != in.RecordingBytes:
		return "", fmt.Errorf("the recording at %s has %d bytes; the incident's had %d", in.Recording, recorded.Len(), in.RecordingBytes)
	}
	return path, outfile.Write(path, func(w io.Writer) error { _, err := recorded.WriteTo(w); return err })
}
