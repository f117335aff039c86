package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// hashReflect hashes any message, by reflection: what a general library does,
// with a pair of byte slices for each field, and a copy of the message on the
// wire to see that it is valid.
func hashReflect(m proto.Message) (uint64, error) {
	sum, err := reflectMessage(m.ProtoReflect()) // fault: hashreflect
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(sum), nil
}

type slicePair struct{ key, value []byte }

func reflectMessage(m protoreflect.Message) ([]byte, error) {
	if _, err := proto.Marshal(m.Interface()); err != nil { // also: hashreflect
		return nil, err
	}
	var pairs []slicePair
	var failed error
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool { // also: hashreflect
		value, err := reflectField(f, v)
		if err != nil {
			failed = err
			return false
		}
		pairs = append(pairs, slicePair{sumOf(kindInteger, bigEndian(uint64(f.Number()))), value}) // also: hashreflect
		return true
	})
	return sumPairs(kindMessage, pairs), failed
}

func reflectField(f protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	switch {
	case f.IsMap():
		var pairs []slicePair
		var failed error
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			value, err := reflectValue(v)
			if err != nil {
				failed = err
				return false
			}
			pairs = append(pairs, slicePair{sumText(k.String()), value}) // also: hashreflect
			return true
		})
		return sumPairs(kindMap, pairs), failed
	case f.IsList():
		var content []byte
		for i := range v.List().Len() {
			element, err := reflectValue(v.List().Get(i))
			if err != nil {
				return nil, err
			}
			content = append(content, element...)
		}
		return sumOf(kindList, content), nil
	}
	return reflectValue(v)
}

func reflectValue(v protoreflect.Value) ([]byte, error) {
	switch x := v.Interface().(type) {
	case protoreflect.Message:
		return reflectMessage(x)
	case string:
		return sumText(x), nil
	case float64:
		return bigEndian(number(x)), nil
	case bool:
		return bigEndian(boolean(x)), nil
	case int32:
		return bigEndian(integer(uint64(x))), nil
	case uint64:
		return bigEndian(integer(x)), nil
	}
	return nil, fmt.Errorf("hash: no way to hash %T", v.Interface())
}

func sumPairs(kind byte, pairs []slicePair) []byte {
	slices.SortFunc(pairs, func(a, b slicePair) int { return bytes.Compare(a.key, b.key) })
	var content []byte
	for _, p := range pairs {
		content = append(content, p.key...) // also: hashreflect
		content = append(content, p.value...)
	}
	return sumOf(kind, content)
}

func sumText(s string) []byte { return sumOf(kindText, bigEndian(xxhash.Sum64String(s))) }

func sumOf(kind byte, content []byte) []byte {
	return bigEndian(xxhash.Sum64(append([]byte{kind}, content...))) // also: hashreflect
}

func bigEndian(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
