package pull

import "encoding/binary"

// maxDecoded bounds the memory that a profile takes once it is decoded: a sample of two
// bytes becomes a struct of more than a hundred.
const maxDecoded = 640 << 20

// Fields of a Profile (github.com/google/pprof/proto/profile.proto), and what one of
// their messages takes in package profile, in bytes, on a 64-bit machine.
var memoryOfField = map[uint64]int{
	1:  40,  // sample_type
	2:  160, // sample
	3:  144, // mapping
	4:  96,  // location
	5:  96,  // function
	6:  32,  // string_table: a list that grows
	13: 24,  // comment
}

const (
	fieldSample   = 2
	fieldLocation = 4
	fieldLabel    = 3   // of a Sample
	fieldLine     = 4   // of a Location
	memoryOfLabel = 320 // its struct, and its place in the sample's maps
	memoryOfLine  = 64  // its struct, in a list that grows
	memoryOfID    = 16  // an ID of a location, and the pointer that it becomes
)

// memoryOf is about how much memory the decoding of a profile takes, from the numbers of
// its messages. What is not a profile is left to the decoder.
func memoryOf(data []byte) (bytes int) {
	eachField(data, func(field uint64, message []byte) {
		bytes += memoryOfField[field] + len(message)
		switch field {
		case fieldSample:
			bytes += memoryOfID*numbersIn(message) + memoryOfLabel*countOf(message, fieldLabel)
		case fieldLocation:
			bytes += memoryOfLine * countOf(message, fieldLine)
		}
	})
	return bytes
}

// countOf is how many fields with a number a message has.
func countOf(message []byte, number uint64) (n int) {
	eachField(message, func(field uint64, _ []byte) {
		if field == number {
			n++
		}
	})
	return n
}

// numbersIn is how many varints there may be in bytes at most: each has one byte
// without the upper bit.
func numbersIn(b []byte) (n int) {
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}

// eachField hands over the fields of a message that have a length, in the wire format of
// protocol buffers; it ends where the bytes make no sense.
func eachField(b []byte, each func(field uint64, content []byte)) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return
		}
		b = b[n:]
		switch tag & 7 {
		case 0:
			if _, n = binary.Uvarint(b); n <= 0 {
				return
			}
		case 1:
			n = 8
		case 5:
			n = 4
		case 2:
			length, size := binary.Uvarint(b)
			if size <= 0 || length > uint64(len(b)-size) {
				return
			}
			n = size + int(length)
			each(tag>>3, b[size:n])
		default:
			return
		}
		if n > len(b) {
			return
		}
		b = b[n:]
	}
}
