// Package incontainer tests Highwater in and beside real containers: as their entrypoint,
// from the host, as a sidecar, under both versions of cgroups. It has no code of its own.
//
// Containers are run by podman and runc, without a registry, a network or a daemon, from
// one image of static programs.
package incontainer
