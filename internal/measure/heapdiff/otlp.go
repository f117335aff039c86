package heapdiff

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

// OTLP is the name of OpenTelemetry's format for profiles, with the version that it has: an alpha, which is
// changed without regard for what was written before.
const OTLP = "otlp-v1development"

// Numbers of fields, as opentelemetry/proto/profiles/v1development/profiles.proto of release 1.11 has them.
const (
	otlpResourceProfiles, otlpDictionary                                                      = 1, 2
	otlpResource, otlpScopeProfiles                                                           = 1, 2
	otlpScope, otlpProfiles                                                                   = 1, 2
	otlpSampleType, otlpSamples, otlpTime, otlpDuration, otlpPeriodType, otlpPeriod           = 1, 2, 3, 4, 5, 6
	otlpMappings, otlpLocations, otlpFunctions, otlpLinks, otlpStrings, otlpAttrs, otlpStacks = 1, 2, 3, 4, 5, 6, 7
	otlpType, otlpUnit                                                                        = 1, 2
	otlpSampleStack, otlpSampleAttrs, otlpSampleValues                                        = 1, 2, 4
	otlpMappingStart, otlpMappingLimit, otlpMappingOffset, otlpMappingFile                    = 1, 2, 3, 4
	otlpLocationMapping, otlpLocationAddress, otlpLocationLines                               = 1, 2, 3
	otlpLineFunction, otlpLineLine                                                            = 1, 2
	otlpFunctionName, otlpFunctionSystem, otlpFunctionFile, otlpFunctionStart                 = 1, 2, 3, 4
	otlpAttrKey, otlpAttrValue                                                                = 1, 2
)

// message is a protobuf message on its way; zero values are left out, as proto3 has it.
type message []byte

func (m *message) number(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
	}
}

func (m *message) fixed(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
	}
}

// bytes appends a message or a text, an empty one too: in a list it counts.
func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) packed(field protowire.Number, list []uint64) {
	if len(list) == 0 {
		return
	}
	var b message
	for _, v := range list {
		b = protowire.AppendVarint(b, v)
	}
	m.bytes(field, b)
}

// otlpTable is a list of the dictionary without repetitions. Its first entry is empty and means "none".
type otlpTable struct {
	entries []message
	numbers map[string]uint64
}

func newOTLPTable() *otlpTable {
	return &otlpTable{[]message{nil}, map[string]uint64{"": 0}}
}

func (t *otlpTable) index(m message) uint64 {
	n, known := t.numbers[string(m)]
	if !known {
		n = uint64(len(t.entries))
		t.numbers[string(m)], t.entries = n, append(t.entries, m)
	}
	return n
}

// otlpDict are the tables that all profiles of a file share.
type otlpDict struct {
	mappings, locations, functions, strings, attrs, stacks *otlpTable
}

func (d *otlpDict) text(s string) uint64 { return d.strings.index(message(s)) }

func (d *otlpDict) mapping(p *profile.Mapping) uint64 {
	if p == nil {
		return 0
	}
	var m message
	m.number(otlpMappingStart, p.Start)
	m.number(otlpMappingLimit, p.Limit)
	m.number(otlpMappingOffset, p.Offset)
	m.number(otlpMappingFile, d.text(p.File))
	return d.mappings.index(m)
}

func (d *otlpDict) function(f *profile.Function) uint64 {
	if f == nil {
		return 0
	}
	var m message
	m.number(otlpFunctionName, d.text(f.Name))
	m.number(otlpFunctionSystem, d.text(f.SystemName))
	m.number(otlpFunctionFile, d.text(f.Filename))
	m.number(otlpFunctionStart, uint64(f.StartLine))
	return d.functions.index(m)
}

// location is a pprof location: lines of inlined calls first, as in pprof.
func (d *otlpDict) location(l *profile.Location) uint64 {
	var m message
	m.number(otlpLocationMapping, d.mapping(l.Mapping))
	m.number(otlpLocationAddress, l.Address)
	for _, line := range l.Line {
		var one message
		one.number(otlpLineFunction, d.function(line.Function))
		one.number(otlpLineLine, uint64(line.Line))
		m.bytes(otlpLocationLines, one)
	}
	return d.locations.index(m)
}

func (d *otlpDict) stack(s *profile.Sample) uint64 {
	var list []uint64
	for _, l := range s.Location {
		list = append(list, d.location(l))
	}
	var m message
	m.packed(1, list)
	return d.stacks.index(m)
}

// attributes are a sample's labels of text.
func (d *otlpDict) attributes(s *profile.Sample) (list []uint64) {
	keys := make([]string, 0, len(s.Label))
	for key := range s.Label {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		for _, v := range s.Label[key] {
			var value, m message
			value.bytes(1, []byte(v)) // AnyValue.string_value
			m.number(otlpAttrKey, d.text(key))
			m.bytes(otlpAttrValue, value)
			list = append(list, d.attrs.index(m))
		}
	}
	return list
}

func (d *otlpDict) valueType(t *profile.ValueType) (m message) {
	if t != nil {
		m.number(otlpType, d.text(t.Type))
		m.number(otlpUnit, d.text(t.Unit))
	}
	return m
}

// dictionary is the message of the tables.
func (d *otlpDict) dictionary() (m message) {
	for field, t := range map[protowire.Number]*otlpTable{otlpMappings: d.mappings, otlpLocations: d.locations, otlpFunctions: d.functions, otlpStrings: d.strings,
		otlpAttrs: d.attrs, otlpStacks: d.stacks} {
		for _, e := range t.entries {
			m.bytes(field, e)
		}
	}
	m.bytes(otlpLinks, nil)
	return m
}

// writeOTLP writes a ProfilesData, which an ExportProfilesServiceRequest has the fields of, with a profile for each value.
func writeOTLP(w io.Writer, p *profile.Profile) error {
	d := &otlpDict{newOTLPTable(), newOTLPTable(), newOTLPTable(), newOTLPTable(), newOTLPTable(), newOTLPTable()}
	var scoped, scope message
	scope.bytes(1, []byte("highwater")) // InstrumentationScope.name
	scoped.bytes(otlpScope, scope)
	for i, t := range p.SampleType {
		scoped.bytes(otlpProfiles, otlpProfile(d, p, i, t))
	}
	var of message
	if len(p.Mapping) > 0 && p.Mapping[0].File != "" {
		var value, attr, resource message
		value.bytes(1, []byte(filepath.Base(p.Mapping[0].File)))
		attr.bytes(1, []byte("service.name"))
		attr.bytes(2, value)
		resource.bytes(1, attr)
		of.bytes(otlpResource, resource)
	}
	of.bytes(otlpScopeProfiles, scoped)
	var all message
	all.bytes(otlpResourceProfiles, of)
	all.bytes(otlpDictionary, d.dictionary())
	_, err := w.Write(all)
	return err
}

// otlpProfile is the profile of one of the values.
func otlpProfile(d *otlpDict, p *profile.Profile, i int, t *profile.ValueType) (m message) {
	m.bytes(otlpSampleType, d.valueType(t))
	for _, s := range p.Sample {
		if s.Value[i] == 0 {
			continue
		}
		var one message
		one.number(otlpSampleStack, d.stack(s))
		one.packed(otlpSampleAttrs, d.attributes(s))
		one.packed(otlpSampleValues, []uint64{uint64(s.Value[i])})
		m.bytes(otlpSamples, one)
	}
	m.fixed(otlpTime, uint64(p.TimeNanos))
	m.number(otlpDuration, uint64(p.DurationNanos))
	if p.PeriodType != nil {
		m.bytes(otlpPeriodType, d.valueType(p.PeriodType))
	}
	m.number(otlpPeriod, uint64(p.Period))
	return m
}
