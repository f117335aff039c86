package cli

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

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/fleet"
	"github.com/highwater-go/highwater/internal/outfile"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

func fleetCommand(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Ask what all agents saw: which lines grow, which kills are new",
		Long: `Asks the store that highwater agent writes to: which lines of which services grew
most, and which kills there were, by cause.`,
		Example: `  highwater fleet top --since 7d --store file:///var/lib/highwater/fleet
  highwater fleet incidents checkout --since 24h`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("highwater fleet top, highwater fleet incidents or highwater fleet init", "fleet needs a question")
		},
	}
	c.AddGroup(&cobra.Group{ID: "ask", Title: "Ask:"}, &cobra.Group{ID: "set-up", Title: "Set up:"})
	for _, one := range []*cobra.Command{fleetTopCommand(s), fleetIncidentsCommand(s), fleetDiffCommand(s), fleetFitCommand(s)} {
		one.GroupID = "ask"
		c.AddCommand(one)
	}
	for _, one := range []*cobra.Command{fleetInitCommand(s), fleetRollupCommand(s)} {
		one.GroupID = "set-up"
		c.AddCommand(one)
	}
	return c
}

// fleetFlags are those of a question.
type fleetFlags struct {
	storeFlags
	since string
	json  bool
}

func (f *fleetFlags) add(c *cobra.Command, since string) {
	f.storeFlags.add(c)
	c.Flags().StringVar(&f.since, "since", since, "ask of this `time` until now: 24h, 7d, 4w")
	c.Flags().BoolVar(&f.json, "json", false, "print as JSON")
	c.Args = cobra.MaximumNArgs(1)
}

// ask opens the store and asks it of the service that was named, if any.
func (f *fleetFlags) ask(c *cobra.Command, args []string, question func(context.Context, fleet.Store, fleet.Scope) error) error {
	since, err := parseSince(f.since)
	if err != nil {
		return err
	}
	store, err := f.open()
	if err != nil {
		return err
	}
	defer store.Close()
	now := time.Now()
	scope := fleet.Scope{Tenant: f.tenant, Since: now.Add(-since), Now: now}
	if len(args) > 0 {
		scope.Service = args[0]
	}
	return storeError(question(c.Context(), store, scope))
}

// parseSince reads a time that may be in days or weeks.
func parseSince(text string) (time.Duration, error) {
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
	return 0, usagef("--since 24h, --since 7d, --since 4w", "--since %s is no time", text)
}

func fleetInitCommand(s *streams) *cobra.Command {
	var f storeFlags
	var asJSON, statements bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Make the tables in the store, or check those that are there",
		Long: `Makes the tables that the agent writes to, where they are not there yet. It changes no
table that is there, and says how it differs.`,
		Example: `  highwater fleet init --store file:///var/lib/highwater/fleet
  highwater fleet init --store https://clickhouse:8443/highwater --credentials /etc/highwater/store --cluster main`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := f.open()
			if err != nil {
				return err
			}
			defer store.Close()
			if statements {
				for _, text := range store.Statements() {
					visible.Fprintf(s.out, "%s;\n", text)
				}
				return nil
			}
			if err := store.Init(c.Context()); err != nil {
				return storeError(err)
			}
			if asJSON {
				return s.printJSON(map[string]any{"schema": "highwater.fleet-init/1", "store": f.address, "tables": len(fleet.Tables())})
			}
			visible.Fprintf(s.out, "%s has all %d tables\n", f.address, len(fleet.Tables()))
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.cluster, "cluster", "", "make replicated tables on this `cluster` of ClickHouse")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&statements, "print", false, "print the statements, and run none")
	c.Flags().BoolVar(&f.plain, "plain", false, "make tables without TTL, for ClickHouse before 20.1")
	return c
}

func fleetTopCommand(s *streams) *cobra.Command {
	var f fleetFlags
	var most int
	c := &cobra.Command{
		Use:   "top [SERVICE]",
		Short: "Show the lines whose memory grew most, in each process",
		Long: `Shows the lines whose objects in use grew most, as a mean of each process: between the
first and the last seventh of the time, an hour at least. A line is a function of a
service, in all its versions.

Figures are of heap profiles. A process that keeps none has no line here; the first line
of the answer says how many there are.`,
		Example: `  highwater fleet top --since 7d
  highwater fleet top checkout --since 24h --json | jq '.lines[0]'`,
		RunE: func(c *cobra.Command, args []string) error {
			return f.ask(c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) error {
				got, err := fleet.Top(ctx, store, scope, most)
				if err != nil {
					return err
				}
				if f.json {
					return s.printJSON(map[string]any{"schema": "highwater.fleet-top/1", "from": got.From, "to": got.To, "services": got.Services, "processes": got.Processes, "without_profile": got.Silent, "lines": got.Lines})
				}
				return printTop(s, f.since, got)
			})
		},
	}
	f.add(c, "7d")
	c.Flags().IntVar(&most, "lines", 10, "print at most this `number` of lines")
	return c
}

func fleetIncidentsCommand(s *streams) *cobra.Command {
	var f fleetFlags
	var onlyNew bool
	c := &cobra.Command{
		Use:   "incidents [SERVICE]",
		Short: "Show kills and crashes by cause: new, known, or back again",
		Long: `Shows what was killed, crashed or came within 5% of its limit, one row for each cause.
A cause is new where nothing before that time had it, and came back where a version
without it ran in between. highwater explain INCIDENT explains one in full.`,
		Example: `  highwater fleet incidents --since 24h
  highwater fleet incidents checkout --new
  highwater explain 3fa9c1d2`,
		RunE: func(c *cobra.Command, args []string) error {
			return f.ask(c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) error {
				list, err := fleet.Causes(ctx, store, scope)
				if err != nil {
					return err
				}
				if onlyNew {
					list = newCauses(list)
				}
				if f.json {
					return s.printJSON(map[string]any{"schema": "highwater.fleet-incidents/1", "since": scope.Since.UTC(), "causes": list})
				}
				return printCauses(s, f.since, list)
			})
		},
	}
	f.add(c, "24h")
	c.Flags().BoolVar(&onlyNew, "new", false, "show causes that are new or came back")
	return c
}

func newCauses(list []fleet.Cause) []fleet.Cause {
	kept := []fleet.Cause{}
	for _, one := range list {
		if one.Status != fleet.StatusKnown {
			kept = append(kept, one)
		}
	}
	return kept
}

func (s *streams) printJSON(v any) error {
	e := json.NewEncoder(s.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printTop prints a line for each line of code.
func printTop(s *streams, since string, f *fleet.Fleet) error {
	if f.To.IsZero() {
		visible.Fprintf(s.out, "no heap profile was kept within %s; %s without one\n", since, counted(f.Silent, "process is", "processes are"))
		return nil
	}
	visible.Fprintf(s.out, "%s seen of %s: %s, %s; %s no heap profile\n", units.Duration(f.To.Sub(f.From)), since, counted(f.Services, "service", "services"),
		counted(f.Processes, "process", "processes"), counted(f.Silent, "process keeps", "processes keep"))
	if len(f.Lines) == 0 {
		visible.Fprintf(s.out, "no line grew\n")
		return nil
	}
	var cells, table strings.Builder
	fmt.Fprintf(&cells, "SERVICE\tGROWTH\tIN A PROCESS\tSINCE\tPROCESSES\tKILLS\tLINE\n")
	for _, g := range f.Lines {
		fmt.Fprintf(&cells, "%s\t%s\t%s to %s\t%s\t%d\t%d\t%s\n", visible.Text(g.Service), units.Delta(int64(g.Bytes())), units.Size(int64(g.From)), units.Size(int64(g.To)),
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
		visible.Fprintf(s.out, "%s\n", strings.TrimRight(line, " \n"))
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

func printCauses(s *streams, since string, list []fleet.Cause) error {
	if len(list) == 0 {
		visible.Fprintf(s.out, "no incident within %s\n", since)
		return nil
	}
	for i, c := range list {
		if i > 0 {
			visible.Fprintf(s.out, "\n")
		}
		status := string(c.Status)
		if c.Since != "" {
			status += " in " + c.Since
			if c.Status == fleet.StatusKnown {
				status = "known since " + c.Since
			}
		}
		visible.Fprintf(s.out, "%s  %s  %s, %s in %s, last %s\n", c.Service, orWord(shortCause(c.Fingerprint, list), c.Class), status, counted(c.Count, "incident", "incidents"), counted(uint64(c.Pods), "pod", "pods"), c.At.Local().Format("2006-01-02 15:04:05"))
		visible.Fprintf(s.out, "  %s\n", c.Sentence)
		if c.Cause != "" && c.Cause != c.Sentence {
			visible.Fprintf(s.out, "  %s\n", c.Cause)
		}
		visible.Fprintf(s.out, "  highwater explain %s\n", c.Newest[:12])
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

// incidentRecording is the recording of an incident whose ID an argument begins; ok is false where the argument
// cannot be one, or no store is named.
func incidentRecording(ctx context.Context, name string) (path string, ok bool, err error) {
	f := storeFlags{address: os.Getenv(storeVariable), tenant: orWord(os.Getenv("HIGHWATER_TENANT"), "default"), credentials: os.Getenv("HIGHWATER_STORE_CREDENTIALS"), ca: os.Getenv("HIGHWATER_STORE_CA")}
	if f.address == "" || len(name) < 8 || len(name) > 32 {
		return "", false, nil
	}
	if _, err := hex.DecodeString(name + strings.Repeat("0", len(name)%2)); err != nil {
		return "", false, nil
	}
	store, err := f.open()
	if err != nil {
		return "", true, err
	}
	defer store.Close()
	in, err := fleet.Find(ctx, store, f.tenant, name)
	if err != nil {
		return "", true, storeError(err)
	}
	if in.Recording == "" {
		return "", true, &exitError{code: exitInconclusive, err: fmt.Errorf("incident %s has no recording: %s", in.Incident, in.Sentence), hint: "highwater fleet incidents " + visible.Shell(in.Service) + " says all that is known of it"}
	}
	path, err = fetchRecording(ctx, f, in)
	return path, true, err
}

// fetchRecording is the recording of an incident on this machine: fetched from its bucket, once.
func fetchRecording(ctx context.Context, f storeFlags, in fleet.Incident) (string, error) {
	u, err := url.Parse(in.Recording)
	if err != nil {
		return "", fmt.Errorf("the recording of incident %s is at %q, which is no address", in.Incident, in.Recording)
	}
	switch u.Scheme {
	case "file":
		if _, err := os.Stat(u.Path); errors.Is(err, os.ErrNotExist) {
			return "", &exitError{code: exitFailed, err: fmt.Errorf("the recording of incident %s is no longer at %s; what happened: %s", in.Incident, u.Path, in.Sentence), hint: "it is on " + in.Node}
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
	path := filepath.Join(dir, fileName(in.Service)+"-"+in.Incident.String()[:12]+suffix)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	bucket, err := (bucketFlags{}).bucket("s3://"+u.Host, f)
	if err != nil {
		return "", err
	}
	defer bucket.Close()
	var recorded bytes.Buffer
	switch err = bucket.Get(ctx, in.Recording, &recorded); {
	case errors.Is(err, fleet.ErrNoObject):
		return "", &exitError{code: exitFailed, err: fmt.Errorf("the recording of incident %s is no longer at %s; what happened: %s", in.Incident, in.Recording, in.Sentence), hint: "highwater fleet incidents " + visible.Shell(in.Service) + " says all that is known of it"}
	case errors.Is(err, fleet.ErrCredentials):
		return "", &exitError{code: exitNotPermitted, err: err, hint: bucketKeysVariable + " names a file with ACCESS_KEY:SECRET_KEY"}
	case err != nil:
		return "", err
	case uint64(recorded.Len()) != in.RecordingBytes:
		return "", fmt.Errorf("the recording at %s has %d bytes; the incident's had %d", in.Recording, recorded.Len(), in.RecordingBytes)
	}
	return path, outfile.Write(path, func(w io.Writer) error { _, err := recorded.WriteTo(w); return err })
}
