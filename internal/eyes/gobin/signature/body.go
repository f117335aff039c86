package signature

// Body is what one function's instructions say of the data around it, without
// what depends on where the linker put either.
type Body struct {
	Hash uint32 // of the normalised instructions
	Refs []Ref  // in order of their instructions
}

// Ref is one operand that names data relative to the program counter.
type Ref struct {
	Target uint64 // link-time address
	Text   uint32 // hash of the normalised instruction
}

// FNV-1a, 32 bits.
const (
	hashStart = 2166136261
	hashPrime = 16777619
)

func hash(h uint32, b []byte) uint32 {
	for _, c := range b {
		h = (h ^ uint32(c)) * hashPrime
	}
	return h
}

// ReadBody decodes a function's code that lies at pc, and appends its references to
// refs. What the linker fills in - displacements relative to the program counter,
// branches among them, immediates that may be addresses - is taken as zero, and
// padding is left out. ok is false if an instruction is not known, or the
// architecture is none of amd64 and arm64.
func ReadBody(arch string, refs []Ref, code []byte, pc uint64) (b Body, ok bool) {
	b = Body{Hash: hashStart, Refs: refs}
	switch arch {
	case "amd64":
		ok = b.readAMD64(code, pc)
	case "arm64":
		ok = b.readARM64(code, pc)
	}
	return b, ok
}

// add counts an instruction in; with a target it is a reference.
func (b *Body) add(text []byte, target uint64, isRef bool) {
	b.Hash = hash(b.Hash, text)
	if isRef {
		b.Refs = append(b.Refs, Ref{target, hash(hashStart, text)})
	}
}
