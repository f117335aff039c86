package gobin

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// checkSupported says what of this program cannot be read; the order is that of
// what a user can change least.
func (b *Binary) checkSupported(f *elf.File) error {
	goos := b.Settings["GOOS"]
	if goos == "" {
		goos = "linux" // the setting is as old as Go 1.18
	}
	if b.GoVersion == "unknown" {
		return ErrObfuscated
	}
	if b.Settings["-compiler"] == "gccgo" {
		return ErrGccgo
	}
	if goos != "linux" || b.Arch != "amd64" && b.Arch != "arm64" || goarch(f) != b.Arch {
		return fmt.Errorf("built for %s/%s: %w", goos, b.Arch, ErrArch)
	}
	switch mode := b.Settings["-buildmode"]; mode {
	case "", "exe", "pie", "c-shared", "c-archive":
	default:
		return fmt.Errorf("built with -buildmode=%s: %w", mode, ErrBuildMode)
	}
	if b.Settings["-linkshared"] == "true" {
		return fmt.Errorf("built with -linkshared: %w", ErrBuildMode)
	}
	_, err := findToolchains(b.Arch, b.GoVersion, b.Experiments)
	return err
}

// foreign says which other Go toolchain built a file without build information, as
// far as it shows; else the file is no Go program.
func (b *Binary) foreign(f *elf.File) error {
	libs := b.importedLibraries(f)
	switch {
	case slices.ContainsFunc(libs, func(lib string) bool { return strings.HasPrefix(lib, "libgo.so") }):
		return ErrGccgo
	case bytes.Contains(b.strtab, []byte("\x00tinygo_")):
		return ErrTinyGo
	}
	return ErrNotGo
}
