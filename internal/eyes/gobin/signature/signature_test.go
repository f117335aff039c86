package signature

import (
	"strings"
	"testing"
)

const table = `# a table
toolchain 0 go1.30.0 - exe
toolchain 1 go1.30.0 - pie
toolchain 2 go1.30.4 - exe
toolchain 3 go1.30.4 fast exe
func runtime.f 1 00000001 0,2
runtime.x 0 0000000a 0
func runtime.f 2 00000002 1
runtime.x 1 0000000a 8
func runtime.g 1 00000003 3
runtime.x 0 0000000a 0
`

func TestTheNearestPatchAndItsBuildsAreFound(t *testing.T) {
	for _, c := range []struct {
		patch       int
		experiments string
		want        string
		exact       bool
		functions   string
	}{
		{0, "-", "go1.30.0", true, "runtime.f runtime.f"},
		{1, "-", "go1.30.0", false, "runtime.f runtime.f"},
		{2, "-", "go1.30.0", false, "runtime.f runtime.f"}, // as near as 1.30.4
		{3, "-", "go1.30.4", false, "runtime.f"},
		{4, "-", "go1.30.4", true, "runtime.f"},
		{99, "-", "go1.30.4", false, "runtime.f"},
		{0, "fast", "go1.30.4 fast", false, "runtime.g"},
	} {
		s, err := parse([]byte(table), c.patch, c.experiments)
		if err != nil {
			t.Fatal(err)
		}
		var functions []string
		for name, forms := range s.functions {
			for range forms {
				functions = append(functions, name)
			}
		}
		if s.Toolchain != c.want || s.Exact != c.exact || strings.Join(functions, " ") != c.functions {
			t.Errorf("%d %s: got %s, exact %v, %s", c.patch, c.experiments, s.Toolchain, s.Exact, functions)
		}
	}
}

func TestWhatWasNotMeasuredHasNoSignatures(t *testing.T) {
	if s, err := parse([]byte(table), 0, "slow"); s != nil || err != nil {
		t.Errorf("other experiments: got %v, %v", s, err)
	}
	if _, ok := Find("riscv64", 26, 8, "-"); ok {
		t.Error("another architecture is found")
	}
	for _, minor := range []int{-1, 0, 19, 99} {
		if _, ok := Find("amd64", minor, 0, "-"); ok {
			t.Errorf("go1.%d is found", minor)
		}
	}
}

func TestEveryTableCanBeRead(t *testing.T) {
	files, err := tables.ReadDir("tables")
	if err != nil || len(files) != 2*8 {
		t.Fatal(len(files), err)
	}
	for minor := 20; minor <= 27; minor++ {
		for _, arch := range []string{"amd64", "arm64"} {
			s, ok := Find(arch, minor, 99, "-")
			if !ok || len(s.functions) < 100 || s.Exact {
				t.Errorf("go1.%d for %s: %v, %+v", minor, arch, ok, s)
			}
		}
	}
}

// code is, at 0x1000: MOVQ 0x100(PC), AX; NOP; MOVQ CX, 0x200(PC); CALL; RET; INT3.
var code = []byte{
	0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00,
	0x90,
	0x48, 0x89, 0x0d, 0x00, 0x02, 0x00, 0x00,
	0xe8, 0x11, 0x22, 0x33, 0x00,
	0xc3,
	0xcc, 0xcc,
}

func TestABodyIsTheSameWhereverTheLinkerPutsIt(t *testing.T) {
	b, ok := ReadBody("amd64", nil, code, 0x1000)
	if !ok || len(b.Refs) != 2 || b.Refs[0].Target != 0x1107 || b.Refs[1].Target != 0x120f {
		t.Fatalf("got %+v, %v", b, ok)
	}
	moved := append([]byte(nil), code...)
	moved[3], moved[11], moved[16] = 0x55, 0x66, 0x77 // displacements
	m, _ := ReadBody("amd64", nil, moved[:len(moved)-1], 0x9000)
	if m.Hash != b.Hash || m.Refs[0].Text != b.Refs[0].Text || m.Refs[0].Target != 0x915c {
		t.Errorf("got %+v, first %+v", m, b)
	}
	other := append([]byte(nil), code...)
	other[10] = 0x15 // DX instead of CX
	if o, _ := ReadBody("amd64", nil, other, 0x1000); o.Hash == b.Hash || o.Refs[1].Text == b.Refs[1].Text {
		t.Error("another register makes no difference")
	}
	if _, ok := ReadBody("amd64", nil, code[:5], 0x1000); ok {
		t.Error("a cut instruction is read")
	}
}

// The set has two functions that name x: f just so, g in another way.
func TestVotesCountByHowMuchAFunctionIsLikeTheTables(t *testing.T) {
	b, _ := ReadBody("amd64", nil, code, 0x1000)
	exact := &function{hash: b.Hash, refs: 2, sites: []site{{"x", 0, b.Refs[0].Text, 7}}}
	like := &function{hash: 1, refs: 2, sites: []site{{"x", 0, b.Refs[0].Text, 7}}}
	single := &function{hash: 1, refs: 9, sites: []site{{"x", 5, b.Refs[0].Text, 7}}}
	astray := &function{hash: 1, refs: 2, sites: []site{{"x", 1, b.Refs[1].Text, 7}}}
	strange := &function{hash: 1, refs: 2, sites: []site{{"x", 1, 1, 7}}}
	for _, c := range []struct {
		name      string
		functions []*function
		want      Elected
		err       string
	}{
		{"exact", []*function{exact}, Elected{0x1100, 10, 0}, ""},
		{"alike", []*function{like, like}, Elected{0x1100, 4, 0}, ""},
		{"one reference alike", []*function{single}, Elected{0x1100, 1, 0}, "only 1 votes"},
		{"nothing alike", []*function{strange}, Elected{}, "no function"},
		{"a few against", []*function{exact, exact, exact, exact, astray}, Elected{0x1100, 40, 2}, ""},
		{"too many against", []*function{exact, exact, exact, astray}, Elected{0x1100, 30, 2}, "30 votes for, 2 against"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Set{arch: "amd64", functions: map[string][]*function{}}
			all := map[string][]Code{}
			for i, f := range c.functions {
				name := string(rune('a' + i))
				s.functions[name] = []*function{f}
				all[name] = []Code{{code, 0x1000}}
			}
			got := s.Elect(all, func(uint64) bool { return true })["x"]
			err := got.Err()
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %+v, %v", got, err)
			}
			none := s.Elect(all, func(addr uint64) bool { return addr > 1<<20 })["x"]
			if none != (Elected{}) {
				t.Errorf("addresses that are not valid get %+v", none)
			}
		})
	}
}

func TestNamesakesVoteOnlyWhereTheirCodeIsTheTables(t *testing.T) {
	b, _ := ReadBody("amd64", nil, code, 0x1000)
	s := &Set{arch: "amd64", functions: map[string][]*function{"f": {{hash: b.Hash, refs: 2, sites: []site{{"x", 0, b.Refs[0].Text, 0}}}}}}
	changed := append([]byte(nil), code...)
	changed[20] = 0x90 // RET becomes NOP: alike, and lies elsewhere
	got := s.Elect(map[string][]Code{"f": {{code, 0x1000}, {changed, 0x5000}}}, func(uint64) bool { return true })["x"]
	if got != (Elected{0x1107, 10, 0}) {
		t.Errorf("got %+v", got)
	}
}

func FuzzReadBody(f *testing.F) {
	f.Add(code, uint64(0x1000))
	f.Add([]byte{0xc5, 0xfe, 0x6f, 0x05, 1, 2, 3, 4}, ^uint64(0)) // VMOVDQU
	f.Add([]byte{0x80, 0x3d, 0, 0, 0, 0, 0, 0x48, 0xc7, 0x05, 0, 0, 0, 0, 0, 0, 0, 0}, uint64(0))
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) {
		for _, arch := range []string{"amd64", "arm64"} {
			b, _ := ReadBody(arch, nil, code, pc)
			if len(b.Refs) > len(code)/4 {
				t.Errorf("%s: %d references in %d bytes", arch, len(b.Refs), len(code))
			}
			ProfilingSwitch(arch, Code{code, pc})
		}
	})
}
