package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

// addPlaces adds the flags.
func addPlaces(f *app.PlaceFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Container, "container", "",
		"watch the container of this `name`, POD/NAME or NAMESPACE/POD/NAME in a pod, or with this id or the beginning of one: Docker, containerd, CRI-O, Podman")
	flags.StringVar(&f.Pod, "pod", "", "watch all that is in the pod of this `name`, NAMESPACE/NAME, or uid")
	flags.StringVar(&f.Unit, "unit", "", "watch all that is in this `unit` of systemd: checkout.service")
	flags.StringVar(&f.Cgroup, "cgroup", "", "watch all that is in this cgroup: its `path` as in /proc/PID/cgroup, or its directory")
}
