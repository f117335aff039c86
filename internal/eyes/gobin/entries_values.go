package gobin

import (
	"bytes"
	"encoding/binary"
)

// Forms of attributes (section 7.5.6), and those of GNU.
const (
	formAddr       = 0x01
	formBlock2     = 0x03
	formBlock4     = 0x04
	formData2      = 0x05
	formData4      = 0x06
	formData8      = 0x07
	formString     = 0x08
	formBlock      = 0x09
	formBlock1     = 0x0a
	formData1      = 0x0b
	formFlag       = 0x0c
	formSdata      = 0x0d
	formStrp       = 0x0e
	formUdata      = 0x0f
	formRefAddr    = 0x10
	formRef1       = 0x11
	formRef2       = 0x12
	formRef4       = 0x13
	formRef8       = 0x14
	formRefUdata   = 0x15
	formIndirect   = 0x16
	formSecOffset  = 0x17
	formExprloc    = 0x18
	formPresent    = 0x19
	formStrx       = 0x1a
	formAddrx      = 0x1b
	formRefSup4    = 0x1c
	formStrpSup    = 0x1d
	formData16     = 0x1e
	formLineStrp   = 0x1f
	formRefSig8    = 0x20
	formImplicit   = 0x21
	formLoclistx   = 0x22
	formRnglistx   = 0x23
	formRefSup8    = 0x24
	formStrx1      = 0x25
	formStrx2      = 0x26
	formStrx3      = 0x27
	formStrx4      = 0x28
	formAddrx1     = 0x29
	formAddrx2     = 0x2a
	formAddrx3     = 0x2b
	formAddrx4     = 0x2c
	formGNUAddr    = 0x1f01
	formGNUStr     = 0x1f02
	formGNURefAlt  = 0x1f20
	formGNUStrpAlt = 0x1f21
)

// What a value is of.
const (
	itself       = iota
	aPlaceInUnit // counted from the unit's beginning
	anAddress    // index of one in .debug_addr
	aString      // index of one in .debug_str_offsets
)

// How a value is written, where that is not a number of 1 to 8 bytes; 0 is a form that is not known.
const (
	inLEB      = -1 - iota
	inAddress  // of the unit's size of an address
	inOffset   // of the unit's size of an offset
	inRefAddr  // inAddress in version 2, inOffset since
	inKind     // in the abbreviation, and not in the entry
	inNothing  // that it is there is the value
	inText     // until a zero
	in16Bytes  // which no number has
	inIndirect // behind the form that it has
)

// form is how the values of a form are written, and what they are of.
type form struct {
	in    int // bytes of a number, or one of the above
	of    int
	block bool // the number is how many bytes follow
}

// forms are those of DWARF by their numbers. Of what is used nothing is signed.
var forms = [formAddrx4 + 1]form{
	formData1: {in: 1}, formFlag: {in: 1}, formData2: {in: 2}, formData4: {in: 4}, formRefSup4: {in: 4},
	formData8: {in: 8}, formRefSig8: {in: 8}, formRefSup8: {in: 8}, formData16: {in: in16Bytes},
	formUdata: {in: inLEB}, formSdata: {in: inLEB}, formLoclistx: {in: inLEB}, formRnglistx: {in: inLEB},
	formPresent: {in: inNothing}, formImplicit: {in: inKind}, formIndirect: {in: inIndirect}, formString: {in: inText},

	formAddr: {in: inAddress}, formRefAddr: {in: inRefAddr},
	formSecOffset: {in: inOffset}, formStrp: {in: inOffset}, formLineStrp: {in: inOffset}, formStrpSup: {in: inOffset},

	formRef1: {in: 1, of: aPlaceInUnit}, formRef2: {in: 2, of: aPlaceInUnit}, formRef4: {in: 4, of: aPlaceInUnit},
	formRef8: {in: 8, of: aPlaceInUnit}, formRefUdata: {in: inLEB, of: aPlaceInUnit},

	formAddrx:  {in: inLEB, of: anAddress},
	formAddrx1: {in: 1, of: anAddress}, formAddrx2: {in: 2, of: anAddress}, formAddrx3: {in: 3, of: anAddress}, formAddrx4: {in: 4, of: anAddress},
	formStrx:  {in: inLEB, of: aString},
	formStrx1: {in: 1, of: aString}, formStrx2: {in: 2, of: aString}, formStrx3: {in: 3, of: aString}, formStrx4: {in: 4, of: aString},

	formBlock: {in: inLEB, block: true}, formExprloc: {in: inLEB, block: true},
	formBlock1: {in: 1, block: true}, formBlock2: {in: 2, block: true}, formBlock4: {in: 4, block: true},
}

// formOf is the form of a number, the zero value for one that is not known.
func formOf(number uint64) form {
	switch number {
	case formGNUAddr:
		number = formAddrx
	case formGNUStr:
		number = formStrx
	case formGNURefAlt, formGNUStrpAlt:
		number = formSecOffset
	}
	if number >= uint64(len(forms)) {
		return form{}
	}
	return forms[number]
}

// value reads a value; of a block, a string or a number of 16 bytes it is 0.
func (r *entries) value(a *entryAttr) (v uint64, of int) {
	f := a.written
	for f.in == inIndirect {
		f = formOf(r.uleb())
	}
	switch f.in {
	case 0:
		panic(errEntries)
	case inLEB:
		v = r.uleb()
	case inAddress:
		v = r.fixed(r.unit.addrSize)
	case inOffset:
		v = r.fixed(r.unit.wordSize)
	case inRefAddr:
		v = r.fixed(r.unit.refSize())
	case inKind:
		v = a.value
	case inNothing:
		v = 1
	case inText:
		r.at += uint64(len(untilZero(r.info[r.at:]))) + 1
	case in16Bytes:
		r.at += 16
	default:
		v = r.fixed(uint64(f.in))
	}
	if f.block {
		r.pass(v)
		return 0, itself
	}
	return v, f.of
}

// refSize is how long a reference to another unit is (section 7.5.6, and that of version 2).
func (u *entryUnit) refSize() uint64 {
	if u.version == 2 {
		return u.addrSize
	}
	return u.wordSize
}

// text reads a string.
func (r *entries) text(a *entryAttr) []byte {
	begin := r.at
	v, of := r.value(a)
	switch {
	case a.form == formString:
		return r.info[begin : r.at-1]
	case a.form == formStrp:
		return untilZero(r.str[v:])
	case a.form == formLineStrp:
		return untilZero(r.lineStr[v:])
	case of == aString:
		return untilZero(r.str[numberAt(r.strOffsets, r.unit.strBase+v*r.unit.wordSize, r.unit.wordSize):])
	}
	return nil
}

// untilZero is a C string.
func untilZero(b []byte) []byte {
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		panic(errEntries)
	}
	return b[:end]
}

func (r *entries) pass(n uint64) {
	if n > uint64(len(r.info))-r.at {
		panic(errEntries)
	}
	r.at += n
}

// fixed reads a number of n bytes.
func (r *entries) fixed(n uint64) uint64 {
	v := numberAt(r.info, r.at, n)
	r.at += n
	return v
}

// numberAt is the number of n bytes at an offset of a section. All machines whose
// programs are read are little-endian.
func numberAt(b []byte, at, n uint64) uint64 {
	switch b = b[at:]; n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 3:
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	panic(errEntries)
}

// uleb reads an unsigned LEB128 number, or passes over a signed one.
func (r *entries) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		c := r.info[r.at]
		r.at++
		if v |= uint64(c&0x7f) << shift; c < 0x80 {
			return v
		}
	}
}
