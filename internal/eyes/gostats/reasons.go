package gostats

import "github.com/highwater-go/highwater/internal/eyes/gomem"

// reason is the text of a wait reason. Their numbers change with every minor
// version, so they are read from the program.
func (gr *groupReader) reason(m gomem.Memory, n uint8) string {
	if more := int(n) + 1 - len(gr.reasonText); more > 0 {
		gr.reasonText = append(gr.reasonText, make([]string, more)...)
	}
	if gr.reasonText[n] == "" {
		gr.reasonText[n] = readString(m, gr.reasons+16*uint64(n))
	}
	return gr.reasonText[n]
}

// readString reads a short string, "" where there is none.
func readString(m gomem.Memory, addr uint64) string {
	var header [16]byte
	if m.Read(addr, header[:]) != nil {
		return ""
	}
	ptr, n := gomem.Word(header[:], 0), gomem.Word(header[:], 8)
	if n > 64 {
		return ""
	}
	text := make([]byte, n)
	if m.Read(ptr, text) != nil {
		return ""
	}
	return string(text)
}
