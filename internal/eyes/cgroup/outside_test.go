package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// As root, and with version 2, the first place was beside our own cgroup: what a service of systemd with MemoryMax
// started through highwater left the service's limit.
func TestNoCgroupIsMadeOutsideOfALimitOfOurOwn(t *testing.T) {
	mount := t.TempDir()
	h := &Hierarchy{Version: 2, Mount: mount, Base: "/"}
	for path, limit := range map[string]string{
		"system.slice": "max", "system.slice/shop.service": "67108864",
		"user.slice": "max", "user.slice/user-1000.slice": "134217728", "user.slice/user-1000.slice/session-1.scope": "max",
		"user.slice/user-1000.slice/user@1000.service": "max", "user.slice/user-1000.slice/user@1000.service/app.service": "33554432",
	} {
		dir := filepath.Join(mount, path)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "memory.max"), []byte(limit+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const user = "/user.slice/user-1000.slice"
	const service, session, app = "/system.slice/shop.service", user + "/session-1.scope", user + "/user@1000.service/app.service"
	for _, c := range []struct {
		own, place string
		limit      sample.Bytes
		leaves     bool
	}{
		{service, "/system.slice", 0, true},
		{service, "/", 0, true},
		{service, "/", 128 * sample.MiB, true},
		{service, "/system.slice", 32 * sample.MiB, false},
		{service, service, 0, false},
		{session, "/user.slice/user-1000.slice", 0, false},
		{session, "/", 0, true},
		{session, userSlice(session), 0, false},
		{app, userSlice(app), 0, true},
		{app, userSlice(app), 16 * sample.MiB, false},
		{"/", "/", 0, false},
		{"/gone", "/", 0, false},
	} {
		if err := h.outside(c.own, c.place, c.limit); (err != nil) != c.leaves {
			t.Errorf("from %s to %s with %d: %v", c.own, c.place, c.limit, err)
		}
	}
}
