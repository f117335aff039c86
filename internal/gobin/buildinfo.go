package gobin

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
)

// readBuildInfo reads what cmd/link embeds since Go 1.18 and strip leaves.
func (b *Binary) readBuildInfo() error {
	info, err := embeddedInfo(b.file)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotGo, err)
	}
	b.MainPackage = info.Path
	b.Module = sample.Module{Path: info.Main.Path, Version: info.Main.Version}
	for _, d := range info.Deps {
		b.Deps = append(b.Deps, dependency(d))
	}
	b.Settings = make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		b.Settings[s.Key] = s.Value
	}
	b.Arch = b.Settings["GOARCH"]
	b.GoVersion, b.Experiments = splitVersion(info.GoVersion)
	if len(b.Experiments) == 0 {
		b.Experiments = splitExperiments(b.Settings["GOEXPERIMENT"])
	}
	return nil
}

func embeddedInfo(m *mapping) (info *debug.BuildInfo, err error) {
	defer catch(&err)
	return buildinfo.Read(m)
}

// dependency keeps the path that functions are named by.
func dependency(d *debug.Module) sample.Module {
	if d.Replace != nil && d.Replace.Version != "" {
		return sample.Module{Path: d.Path, Version: d.Replace.Version}
	}
	return sample.Module{Path: d.Path, Version: d.Version}
}

// splitVersion takes the experiments off a runtime version: "go1.26.8
// X:nogreenteagc" or "go1.27.2-X:nogreenteagc" (cmd/go and runtime have written
// both forms).
func splitVersion(s string) (version string, experiments []string) {
	version, x, _ := strings.Cut(s, "X:")
	return strings.TrimRight(version, " -"), splitExperiments(x)
}

func splitExperiments(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// linksCgo looks whether runtime/cgo is linked in. With symbols it is the
// variable runtime.iscgo, which runtime/cgo initialises to true; without, a
// C library must be imported by a build that allowed cgo.
func (b *Binary) linksCgo(f *elf.File) bool {
	if s, ok := b.symbols["runtime.iscgo"]; ok {
		data := b.at(s.addr)
		return len(data) > 0 && data[0] == 1
	}
	if b.Settings["CGO_ENABLED"] != "1" {
		return false
	}
	libs, err := importedLibraries(f)
	return err == nil && len(libs) > 0
}

func importedLibraries(f *elf.File) (libs []string, err error) {
	defer catch(&err)
	return f.ImportedLibraries()
}
