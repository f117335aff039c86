package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// storeVariable says where agents keep what they saw; highwater reads it, and others beside
// it for who asks.
const storeVariable = "HIGHWATER_STORE"

// fleetSince is how far back the store is asked.
const fleetSince = "4w"

// inFleet prints what agents saw of the pod. The store is asked by highwater itself: its
// clients are not in this module.
func (a *asked) inFleet(ctx context.Context, out io.Writer) {
	if os.Getenv(storeVariable) == "" {
		return
	}
	program, err := exec.LookPath("highwater")
	if err != nil {
		fmt.Fprintf(out, "%s is set, and no highwater is on the PATH to ask it.\n", storeVariable)
		return
	}
	var wrong strings.Builder
	c := exec.CommandContext(ctx, program, "fleet", "incidents", "--pod="+a.pod, "--namespace="+a.namespace, "--since="+fleetSince)
	c.Stderr = &wrong
	text, err := c.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = errors.New(strings.TrimSpace(wrong.String()))
	}
	fmt.Fprint(out, "\nWhat the agents saw: ")
	if err != nil {
		fmt.Fprintln(out, "the store was not asked:", err)
		return
	}
	_, _ = out.Write(text)
}
