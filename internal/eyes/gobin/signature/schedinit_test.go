package signature

import "testing"

var (
	compare = []byte{0x80, 0x3d, 0x00, 0x01, 0x00, 0x00, 0x00}                         // CMPB $0, 0x100(PC)
	jump    = []byte{0x74, 0x0b}                                                       // JE
	clear0  = []byte{0x48, 0xc7, 0x05, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00} // MOVQ $0, 0x200(PC)
	other   = []byte{0x48, 0x89, 0xc1}                                                 // MOVQ AX, CX
)

func TestTheProfilingSwitchIsTheOnePairOfACompareAndAClear(t *testing.T) {
	for _, c := range []struct {
		name string
		code [][]byte
		ok   bool
	}{
		{"as compiled", [][]byte{other, compare, jump, clear0, other}, true},
		{"without optimisation", [][]byte{compare, jump, jump, clear0}, true},
		{"too far apart", [][]byte{compare, jump, other, other, other, clear0}, false},
		{"twice", [][]byte{compare, jump, clear0, compare, jump, clear0}, false},
		{"no compare", [][]byte{jump, clear0}, false},
		{"no clear", [][]byte{compare, jump}, false},
		{"an unknown instruction", [][]byte{compare, jump, clear0, {0x06}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var code []byte
			var flag, rate uint64
			for _, inst := range c.code {
				code = append(code, inst...)
				end := 0x1000 + uint64(len(code))
				switch &inst[0] {
				case &compare[0]:
					flag = end + 0x100
				case &clear0[0]:
					rate = end + 0x200
				}
			}
			f, r, ok := ProfilingSwitch("amd64", Code{code, 0x1000})
			if ok != c.ok || ok && (f != flag || r != rate) {
				t.Errorf("got %#x %#x %v, want %#x %#x %v", f, r, ok, flag, rate, c.ok)
			}
		})
	}
}
