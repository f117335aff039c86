package gobin

import (
	"debug/gosym"
	"testing"
)

// arm64 is built here and not run.
var arm64 = []probe{
	{toolchain: "go1.20.14", env: "GOARCH=arm64"},
	{toolchain: "go1.26.8", env: "GOARCH=arm64", flags: "-buildmode=pie"},
	{toolchain: "go1.27.2", env: "GOARCH=arm64"},
}

func TestFunctionsAndLinesOfArm64AreThoseOfDebugGosym(t *testing.T) {
	for _, p := range arm64 {
		t.Run(p.String(), func(t *testing.T) {
			b := open(t, p.build(t))
			if err := b.Supported(); err != nil || b.Arch != "arm64" || b.FoundBy != "symbols" {
				t.Fatalf("%s, found by %q: %v", b.Arch, b.FoundBy, err)
			}
			if _, err := b.Locate("runtime.mheap_"); err != nil {
				t.Error(err)
			}
			compareWithGosym(t, b)
		})
	}
}

func TestVariablesOfStrippedArm64ProgramsAreThoseOfTheirSymbols(t *testing.T) {
	for _, p := range arm64 {
		t.Run(p.String(), func(t *testing.T) {
			exe := p.build(t)
			want, b := open(t, exe), open(t, withoutSections(t, withoutSymbols(t, exe)))
			compareVariables(t, "stripped", b, want)
			compareFunctions(t, "stripped", b, want)
			compareWithGosym(t, b)
		})
	}
}

func compareWithGosym(t *testing.T, b *Binary) {
	t.Helper()
	pclntab := b.at(b.module.pclntab)
	tab, err := gosym.NewTable(nil, gosym.NewLineTable(pclntab, b.module.text))
	if err != nil {
		t.Fatal(err)
	}
	compared, inlined := 0, 0
	for pc := b.module.text; pc < b.module.etext; pc += 124 {
		file, line, fn := tab.PCToLine(pc)
		frames := b.Frames(nil, pc)
		if fn == nil || line <= 0 || len(frames) == 0 {
			continue // padding
		}
		f, _ := b.FuncAt(pc)
		if name := f.Name(); name != "" && name != printName(fn.Name) || frames[0].File != file || frames[0].Line != line {
			t.Errorf("%#x: %s %s:%d, gosym says %s %s:%d", pc, name, frames[0].File, frames[0].Line, fn.Name, file, line)
		}
		compared++
		if len(frames) > 1 {
			inlined++
		}
	}
	if compared < 4000 || inlined < 500 {
		t.Errorf("compared %d addresses, %d of them inlined", compared, inlined)
	}
}
