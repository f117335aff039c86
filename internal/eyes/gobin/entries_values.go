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

// value reads a value; of a block or string it is 0.
func (r *entries) value(a *entryAttr) (v uint64, of int) {
	form := a.form
	for form == formIndirect {
		form = r.uleb()
	}
	switch form {
	case formAddr:
		return r.fixed(r.unit.addrSize), itself
	case formData1, formFlag:
		return r.fixed(1), itself
	case formData2:
		return r.fixed(2), itself
	case formData4, formRefSup4:
		return r.fixed(4), itself
	case formData8, formRefSig8, formRefSup8:
		return r.fixed(8), itself
	case formData16:
		r.at += 16
	case formUdata, formSdata, formLoclistx, formRnglistx: // of what is used nothing is signed
		return r.uleb(), itself
	case formPresent:
		return 1, itself
	case formImplicit:
		return a.value, itself
	case formSecOffset, formStrp, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return r.fixed(r.unit.wordSize), itself
	case formRefAddr:
		if r.unit.version == 2 {
			return r.fixed(r.unit.addrSize), itself
		}
		return r.fixed(r.unit.wordSize), itself
	case formRef1:
		return r.fixed(1), aPlaceInUnit
	case formRef2:
		return r.fixed(2), aPlaceInUnit
	case formRef4:
		return r.fixed(4), aPlaceInUnit
	case formRef8:
		return r.fixed(8), aPlaceInUnit
	case formRefUdata:
		return r.uleb(), aPlaceInUnit
	case formAddrx, formGNUAddr:
		return r.uleb(), anAddress
	case formAddrx1, formAddrx2, formAddrx3, formAddrx4:
		return r.fixed(form - formAddrx1 + 1), anAddress
	case formStrx, formGNUStr:
		return r.uleb(), aString
	case formStrx1, formStrx2, formStrx3, formStrx4:
		return r.fixed(form - formStrx1 + 1), aString
	case formString:
		r.at += uint64(len(untilZero(r.info[r.at:]))) + 1
	case formBlock, formExprloc:
		r.pass(r.uleb())
	case formBlock1:
		r.pass(r.fixed(1))
	case formBlock2:
		r.pass(r.fixed(2))
	case formBlock4:
		r.pass(r.fixed(4))
	default:
		panic(errEntries)
	}
	return 0, itself
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
