package gobin

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/highwater-go/highwater/internal/files/elffile"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// readBuildInfo reads what cmd/link embeds since Go 1.18 and strip leaves.
func (b *Binary) readBuildInfo(f *elf.File) error {
	info, err := embeddedInfo(b.file)
	if err != nil {
		var ok bool
		if info, ok = b.scanBuildInfo(); !ok {
			return fmt.Errorf("%w: %w", b.foreign(f), err)
		}
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
	b.Arch = cmp.Or(b.Settings["GOARCH"], b.Arch)
	b.GoVersion, b.Experiments = splitVersion(info.GoVersion)
	if len(b.Experiments) == 0 {
		b.Experiments = splitExperiments(b.Settings["GOEXPERIMENT"])
	}
	return nil
}

// maxBuildInfo bounds the record: that of a server with a thousand modules has 100 KB.
const maxBuildInfo = 4 << 20

func embeddedInfo(m *mapping) (info *debug.BuildInfo, err error) {
	defer catch(&err)
	checked, err := elffile.Check(m)
	if err != nil {
		return nil, err
	}
	return buildinfo.Read(&limited{ReaderAt: checked, left: 2 * maxBuildInfo})
}

// limited reads so many bytes, however large a file, or a hole in it, is.
type limited struct {
	io.ReaderAt
	left int
}

func (r *limited) ReadAt(p []byte, off int64) (int, error) {
	if r.left -= len(p); r.left < 0 {
		return 0, errTooMuch
	}
	return r.ReaderAt.ReadAt(p, off)
}

var errTooMuch = errors.New("more of it would have to be read than any linker writes")

// buildInfoMagic begins the record that cmd/link writes, on an address that 16
// divides. Then come: size of pointers u8, flags u8 (2: strings follow), 16 unused
// bytes, and from 32 on the version and the module text, each after its length as
// a varint (debug/buildinfo).
const buildInfoMagic = "\xff Go buildinf:"

// scanBuildInfo looks for the record in all that is loaded: debug/buildinfo finds
// it in some files without section headers only.
func (b *Binary) scanBuildInfo() (info *debug.BuildInfo, ok bool) {
	for _, data := range b.search([]byte(buildInfoMagic), 16) {
		if info, ok := parseBuildInfo(data); ok {
			return info, true
		}
	}
	return nil, false
}

// parseBuildInfo reads the record at the start of data.
func parseBuildInfo(data []byte) (info *debug.BuildInfo, ok bool) {
	const header, marks = 32, 16
	if len(data) < header || data[15]&2 == 0 {
		return nil, false
	}
	version, rest := lengthPrefixed(data[header:])
	text, _ := lengthPrefixed(rest)
	if len(version) == 0 || !utf8.Valid(version) {
		return nil, false
	}
	info = new(debug.BuildInfo)
	if len(text) >= 2*marks { // cmd/go puts 16 bytes before and behind
		if parsed, err := debug.ParseBuildInfo(string(text[marks : len(text)-marks])); err == nil {
			info = parsed
		}
	}
	info.GoVersion = string(version)
	return info, true
}

// lengthPrefixed splits off the bytes behind a varint that counts them.
func lengthPrefixed(data []byte) (head, rest []byte) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > min(maxBuildInfo, uint64(len(data)-size)) {
		return nil, nil
	}
	return data[size : size+int(n)], data[size+int(n):]
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
// variable runtime.iscgo, which runtime/cgo initialises to true; where that is not found, a
// C library must be imported by a build that allowed cgo.
func (b *Binary) linksCgo(f *elf.File) bool {
	if addr, ok := b.symbols["runtime.iscgo"]; ok {
		data := b.at(addr)
		return len(data) > 0 && data[0] == 1
	}
	if b.Settings["CGO_ENABLED"] != "1" {
		return false
	}
	return len(b.importedLibraries(f)) > 0
}

// importedLibraries are the libraries that a file asks the loader for, the first hundred.
func (b *Binary) importedLibraries(f *elf.File) (libs []string) {
	const most, longest = 100, 256
	dynamic := f.SectionByType(elf.SHT_DYNAMIC)
	if dynamic == nil || uint64(dynamic.Link) >= uint64(len(f.Sections)) {
		return nil
	}
	names := f.Sections[dynamic.Link]
	text := b.slice(names.Offset, min(names.FileSize, maxTable))
	for list := b.slice(dynamic.Offset, min(dynamic.FileSize, maxDynamic)); len(list) >= 16 && len(libs) < most; list = list[16:] {
		tag, at := elf.DynTag(binary.LittleEndian.Uint64(list)), binary.LittleEndian.Uint64(list[8:])
		if tag == elf.DT_NULL {
			break
		}
		if tag != elf.DT_NEEDED || at >= uint64(len(text)) {
			continue
		}
		name, _, _ := bytes.Cut(text[at:min(uint64(len(text)), at+longest)], []byte{0})
		libs = append(libs, string(name))
	}
	return libs
}

// IsGo says from a file's section headers whether a Go linker had a part in it, at
// little cost: for looking through the libraries of any process. Open says more.
func IsGo(path string) (is bool) {
	file, err := regular.Open(path) // to open a device may do something
	if err != nil {
		return false
	}
	defer file.Close()
	f, err := elffile.New(file)
	return err == nil && f.Section(".go.buildinfo") != nil
}
