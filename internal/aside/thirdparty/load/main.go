// Load drives a server of package thirdparty that already runs:
//
//	load NAME 127.0.0.1:PORT
//
// It is what a test gives to run --load. Its code is 1 if the server went away
// before the load was over, which is what a limit is for.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/aside/thirdparty"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: load NAME 127.0.0.1:PORT")
	}
	server, ok := thirdparty.ByName(args[0])
	if !ok {
		return fmt.Errorf("no server %q", args[0])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	log := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	return server.Load(ctx, args[1], thirdparty.Load{Log: log})
}
