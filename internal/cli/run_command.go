package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func runCommand(s *app.Streams) *cobra.Command {
	var f app.RunFlags
	c := &cobra.Command{
		Use:   "run [flags] -- PROGRAM [ARGS...]",
		Short: "Run a program, record its memory, and explain it",
		Long: `Runs a program unchanged, in a memory cgroup of its own, and observes it and its
children from outside. Highwater loads nothing into the program. When the program
dies, highwater reads its memory before the kernel frees it.

Standard output has the answer, standard error the progress. The exit code is the
program's own (128+n for signal n). It is 0 where --for or --load ended the program,
and 1 where the load failed; --exit-code program passes the program's code on then, too.`,
		Example: `  highwater run -- ./server
  highwater run --limit 256MiB --load './load.sh' --ready 8080 -- ./server -addr :8080
  highwater run --metrics :8080 --probe http://127.0.0.1:8080/ \
    --load './load.sh' --ready 8080 -- ./server
  highwater run --limit 1GiB --for 10m -o night.hwm -- sh -c './migrate && ./server'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.Usagef("highwater run --limit 256MiB -- ./server -flag", "run needs a program")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			p, err := f.Plan(args)
			if err != nil {
				return err
			}
			return p.Run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&f.Limit, "limit", "", "memory limit of the program and its children, without swap, as a `size`: 256MiB; units are binary, 1GB is 1GiB")
	flags.StringVar(&f.Load, "load", "", "run this shell `command` meanwhile, and stop the program when it ends")
	flags.StringVar(&f.Ready, "ready", "", "wait for this `port` or URL to answer before the load starts")
	flags.DurationVar(&f.ReadyFor, "ready-timeout", time.Minute, "maximum time to wait for --ready")
	flags.DurationVar(&f.RunFor, "for", 0, "stop the program after this time")
	flags.DurationVar(&f.Grace, "grace", 10*time.Second, "time from SIGTERM to SIGKILL when the program is stopped")
	flags.StringVarP(&f.Output, "output", "o", "", "recording to write (default: a new one in the state directory)")
	flags.IntVar(&f.Rate, "rate", 10, "samples per second while memory moves (1 at rest, up to 1000 near the limit)")
	flags.BoolVar(&f.NoHeapProfile, "no-heap-profile", false, "leave heap profiling disabled where the linker disabled it")
	flags.StringVar(&f.ProfileRate, "profile-rate", "", "set the sampling rate of the heap profile in `bytes` (1: every allocation)")
	flags.BoolVar(&f.FollowForks, "follow-forks", false,
		"trace everything that a busy Go program starts from its first instruction, for its heap profile (costs some CPU)")
	flags.BoolVar(&f.LeaveChildren, "leave-children", false,
		"leave what the program starts to the program, untraced: for a debugger that is not recognized as one")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print neither progress nor the answer")
	flags.BoolVar(&f.JSON, "json", false, "print the answer as JSON; the program's standard output goes to standard error")
	flags.StringVar(&f.ExitCode, "exit-code", app.ExitCodeOfRun,
		"`whose` code to exit with where --for or --load ended the program: highwater (0) or program (143)")
	addAsk(&f.Ask, c)
	addExpect(&f.Expect, c)
	addHeapPolicy(&f.Heap, c, true)
	addKeepArgs(&f.KeepArgs, c)
	addNative(&f.Native, c)
	return c
}
