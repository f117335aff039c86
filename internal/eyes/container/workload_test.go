package container

import "testing"

func TestAPodsNameTellsItsWorkload(t *testing.T) {
	for pod, want := range map[string]string{
		"checkout-7d9f8b6c5d-x2x4z": "checkout",
		"check-out-6f4d5b8c9-bcdfg": "check-out",
		"node-agent-x2x4z":          "node-agent",
		"shop-0":                    "shop",
		"shop-db-12":                "shop-db",
		"shop":                      "shop",
		"eater":                     "eater",
		"my-pod":                    "my-pod",
		"web-server":                "web-server", // letters that no random part has
		"":                          "",
		"-0":                        "-0",
		"etcd-node-1":               "etcd-node", // a static pod of a node: not told from a StatefulSet's
	} {
		if got := Workload(pod); got != want {
			t.Errorf("%q is of %q, want %q", pod, got, want)
		}
	}
}
