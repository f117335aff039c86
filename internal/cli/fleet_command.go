package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/visible"
)

func fleetCommand(s *app.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Ask what all agents saw: which lines grow, which kills are new",
		Long: `Asks the store that highwater agent writes to: which lines of which services grew
most, and which kills there were, by cause.`,
		Example: `  highwater fleet top --since 7d --store file:///var/lib/highwater/fleet
  highwater fleet incidents checkout --since 24h`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return app.Usagef("highwater fleet top, highwater fleet incidents or highwater fleet init", "fleet needs a question")
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

func addFleet(f *app.FleetFlags, c *cobra.Command, since string) {
	addStore(&f.StoreFlags, c)
	c.Flags().StringVar(&f.Since, "since", since, "ask of this `time` until now: 24h, 7d, 4w")
	c.Flags().BoolVar(&f.JSON, "json", false, "print as JSON")
	c.Args = cobra.MaximumNArgs(1)
}

// ask opens the store and asks it of the service that was named, if any.
func askStore(f *app.FleetFlags, c *cobra.Command, args []string, question func(context.Context, fleet.Store, fleet.Scope) error) error {
	since, err := app.ParseSince(f.Since)
	if err != nil {
		return err
	}
	store, err := f.Open()
	if err != nil {
		return err
	}
	defer store.Close()
	now := time.Now()
	scope := fleet.Scope{Tenant: f.Tenant, Since: now.Add(-since), Now: now}
	if len(args) > 0 {
		scope.Service = args[0]
	}
	return app.StoreError(question(c.Context(), store, scope))
}

func fleetInitCommand(s *app.Streams) *cobra.Command {
	var f app.StoreFlags
	var asJSON, statements bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Make the tables in the store, or check those that are there",
		Long: `Creates the tables that the agent writes to, if they do not exist yet. It changes no
existing table, and says how an existing table differs.`,
		Example: `  highwater fleet init --store file:///var/lib/highwater/fleet
  highwater fleet init --store https://clickhouse:8443/highwater --credentials /etc/highwater/store --cluster main`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := f.Open()
			if err != nil {
				return err
			}
			defer store.Close()
			if statements {
				for _, text := range store.Statements() {
					visible.Fprintf(s.Out, "%s;\n", text)
				}
				return nil
			}
			if err := store.Init(c.Context()); err != nil {
				return app.StoreError(err)
			}
			if asJSON {
				return s.PrintJSON(map[string]any{"schema": "highwater.fleet-init/1", "store": f.Address, "tables": len(fleet.Tables())})
			}
			visible.Fprintf(s.Out, "%s has all %d tables\n", f.Address, len(fleet.Tables()))
			return nil
		},
	}
	addStore(&f, c)
	c.Flags().StringVar(&f.Cluster, "cluster", "", "make replicated tables on this `cluster` of ClickHouse")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&statements, "print", false, "print the statements, and run none")
	c.Flags().BoolVar(&f.Plain, "plain", false, "make tables without TTL, for ClickHouse before 20.1")
	return c
}

func fleetTopCommand(s *app.Streams) *cobra.Command {
	var f app.FleetFlags
	var most int
	c := &cobra.Command{
		Use:   "top [SERVICE]",
		Short: "Show the lines whose memory grew most, in each process",
		Long: `Shows the lines whose live memory grew most, as a mean over the processes of a service.
It compares the first with the last seventh of the time, at least an hour each. A line
is a function of a service, in all versions of the service.

The figures come from heap profiles. Processes without a heap profile do not count; the
first line of the answer says how many there are.`,
		Example: `  highwater fleet top --since 7d
  highwater fleet top checkout --since 24h --json | jq '.lines[0]'`,
		RunE: func(c *cobra.Command, args []string) error {
			return askStore(&f, c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) error {
				got, err := fleet.Top(ctx, store, scope, most)
				if err != nil {
					return err
				}
				if f.JSON {
					return s.PrintJSON(map[string]any{"schema": "highwater.fleet-top/1", "from": got.From, "to": got.To, "services": got.Services, "processes": got.Processes,
						"without_profile": got.Silent, "lines": got.Lines})
				}
				return app.PrintTop(s, f.Since, got)
			})
		},
	}
	addFleet(&f, c, "7d")
	c.Flags().IntVar(&most, "lines", 10, "print at most this `number` of lines")
	return c
}

func fleetIncidentsCommand(s *app.Streams) *cobra.Command {
	var f app.FleetFlags
	var onlyNew bool
	var pod fleet.Pod
	c := &cobra.Command{
		Use:   "incidents [SERVICE]",
		Short: "Show kills and crashes by cause: new, known, or back again",
		Long: `Shows kills, crashes, and peaks within 5% of the limit, one row for each cause. A cause is
new if it was never seen before that time. It came back if a version without it ran in
between. highwater explain INCIDENT explains one incident in full.

With --pod, it shows the last incident of each container of that pod.`,
		Example: `  highwater fleet incidents --since 24h
  highwater fleet incidents checkout --new
  highwater fleet incidents --pod checkout-7f9c4-x2x8p --namespace prod --since 4w
  highwater explain 3fa9c1d2`,
		RunE: func(c *cobra.Command, args []string) error {
			if pod.Name == "" && pod.Namespace != "" {
				return app.Usagef("--pod POD --namespace NAMESPACE", "--namespace says which of the pods of that name is meant")
			}
			return askStore(&f, c, args, func(ctx context.Context, store fleet.Store, scope fleet.Scope) error {
				if pod.Name != "" {
					return printPod(ctx, s, &f, store, scope, pod)
				}
				list, err := fleet.Causes(ctx, store, scope)
				if err != nil {
					return err
				}
				if onlyNew {
					list = app.NewCauses(list)
				}
				if f.JSON {
					return s.PrintJSON(map[string]any{"schema": "highwater.fleet-incidents/1", "since": scope.Since.UTC(), "causes": list})
				}
				return app.PrintCauses(s, f.Since, list)
			})
		},
	}
	addFleet(&f, c, "24h")
	c.Flags().BoolVar(&onlyNew, "new", false, "show causes that are new or came back")
	c.Flags().StringVar(&pod.Name, "pod", "", "show the incidents of this `pod` alone")
	c.Flags().StringVar(&pod.Namespace, "namespace", "", "the `namespace` of that pod (default: any)")
	return c
}

func printPod(ctx context.Context, s *app.Streams, f *app.FleetFlags, store fleet.Store, scope fleet.Scope, pod fleet.Pod) error {
	list, err := fleet.OfPod(ctx, store, scope, pod)
	if err != nil {
		return err
	}
	if f.JSON {
		return s.PrintJSON(map[string]any{"schema": "highwater.fleet-pod/1", "since": scope.Since.UTC(), "incidents": app.PodIncidents(list)})
	}
	app.PrintPod(s, f.Since, pod, list)
	return nil
}
