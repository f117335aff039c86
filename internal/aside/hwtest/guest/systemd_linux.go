package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// unit runs this program again, under systemd, once the user's session stands.
const unit = `[Unit]
Wants=user@1000.service
After=user@1000.service multi-user.target
DefaultDependencies=no

[Service]
Type=oneshot
ExecStart=/guest work
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
`

// startSystemd makes the disk the root of the machine, with the job's files and
// this program in it, and becomes systemd. It returns only if it fails.
func startSystemd(job hwtest.Job) error {
	if err := mountDisk(); err != nil {
		return err
	}
	for _, name := range append(job.Files, "/init", "/job.json") {
		to := filepath.Join("/disk", name)
		if name == "/init" {
			to = "/disk/guest"
		}
		if err := copyFile(to, name); err != nil {
			return err
		}
	}
	const services = "/disk/etc/systemd/system/"
	wants := services + "default.target.wants/highwater.service"
	err := errors.Join(
		os.WriteFile(services+"highwater.service", []byte(unit), 0o644),
		os.MkdirAll(filepath.Dir(wants), 0o755),
		os.Symlink("../highwater.service", wants),
	)
	if err != nil {
		return err
	}
	return switchRoot("/disk", "/sbin/init")
}

// switchRoot is switch_root(8): the initial root file system is left behind.
func switchRoot(dir, init string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move %s to /: %w", dir, err)
	}
	if err := errors.Join(unix.Chroot("."), os.Chdir("/")); err != nil {
		return err
	}
	return unix.Exec(init, []string{init}, nil)
}

func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
