package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func openCommand(s *app.Streams) *cobra.Command {
	var f app.OpenFlags
	c := &cobra.Command{
		Use:   "open [RECORDING]",
		Short: "Open the answer in a browser, or write it as one offline file",
		Long: `Shows a recording as a page: the verdict, memory over time, what retained it, why, and
what fixes it. The page follows a recording that is still being written. Without
RECORDING, it lists all recordings.

Highwater serves the page on the loopback address, under an address that nobody can
guess, until Ctrl-C or until nobody has asked for --idle. It leads the browser there
through a file that only you may read; a browser that cannot read files of /tmp (a snap)
needs the address that the terminal shows. The page loads nothing from elsewhere. --html
writes the page with its data as one file, which needs neither network nor server.

With --fleet, it shows what the agents of a store saw: services by kills and growth, each
service by version, and each incident as its recording. RECORDING may be the ID of an
incident of the store, or 8 digits or more of it.`,
		Example: `  highwater open
  highwater open server-3
  highwater open server-3 --no-browser          print the address, for ssh -L
  highwater open server-3 --html kill.html      to attach to a ticket
  highwater open --fleet --store file:///var/lib/highwater/fleet
  highwater open 3fa9c1d2 --store file:///var/lib/highwater/fleet`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.Fleet && (len(args) > 0 || f.HTML != "") {
				return app.Usagef("highwater open --fleet", "--fleet shows a store, not a recording or a file")
			}
			most, err := f.Bound.Most(app.MostReading)
			if err != nil {
				return err
			}
			if f.HTML != "" {
				return f.Bound.Within("open", func() error { return f.WriteFile(s, args) })
			}
			w := &app.Watchman{What: "open", Most: most, Long: f.Bound.Time, Serving: true}
			return w.Run(func() error { return f.Serve(c.Context(), s, args, w) })
		},
	}
	flags := c.Flags()
	c.ValidArgsFunction = completeRecordings(1)
	flags.StringVar(&f.HTML, "html", "", "write one offline `file` instead of serving")
	flags.StringVar(&f.Bound.Memory, "max-memory", "", "use at most this `size` of memory (default: 1GiB)")
	addTime(&f.Bound, c)
	f.Bound.Live = s.Live
	flags.BoolVar(&f.Fleet, "fleet", false, "show what the agents of a store saw")
	addStore(&f.Store, c)
	flags.StringVar(&f.Listen, "listen", "127.0.0.1:0", "serve on this loopback `address`; port 0: any free port")
	flags.BoolVar(&f.NoBrowser, "no-browser", false, "print the address without starting a browser")
	flags.BoolVar(&f.JSON, "json", false, "print as JSON where the page is")
	flags.DurationVar(&f.Idle, "idle", 30*time.Minute, "stop serving after this time without a request; 0: never")
	flags.BoolVar(&f.NoSource, "no-source", false, "leave out source lines")
	flags.BoolVar(&f.Redact, "redact", false, "leave out source, directories, command lines, the host, PIDs, addresses, label values and notes")
	flags.StringVar(&f.Source, "source", "", "look for the source in this `directory`, where it is not where the program was built")
	return c
}
