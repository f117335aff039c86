// Descriptors takes in measurements of machines. Each upload brings the description of its
// messages, since every maker has others; it is put into a registry of protobuf's, by which the
// messages are read. Two uploads may call different things by one name, so that each has a
// package of its own, and the registry forgets none. Repaired, each upload has a registry.
package main

import (
	"fmt"
	"log"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// upload is a description and a message, as they came.
type upload struct{ description, message []byte }

// receive gives an upload whose description needs about size bytes when it is known.
func receive(size int) (*upload, error) {
	m := &descriptorpb.DescriptorProto{Name: proto.String("Measured")}
	u := &upload{}
	for n := range size/600 + 1 {
		m.Field = append(m.Field, &descriptorpb.FieldDescriptorProto{
			Name:   proto.String(fmt.Sprintf("sensor_%d_at_the_left_bearing", n)),
			Number: proto.Int32(int32(n + 1)),
			Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:   descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum(),
		})
		if n < 30 {
			u.message = protowire.AppendVarint(protowire.AppendTag(u.message, protowire.Number(n+1), protowire.VarintType), uint64(n))
		}
	}
	text, err := proto.Marshal(&descriptorpb.FileDescriptorProto{
		Name: proto.String("measured.proto"), Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{m},
	})
	u.description = text
	return u, err
}

type station struct {
	schemas  *protoregistry.Files
	own      bool // a registry for each upload
	machines map[int]*machine
	uploads  int
}

// machine is one of 13 MiB of them.
type machine struct {
	maker string
	sums  [40]int64
}

func newStation(own bool) *station {
	s := &station{schemas: new(protoregistry.Files), own: own, machines: map[int]*machine{}}
	for i := range 36_000 {
		s.machines[i] = &machine{fmt.Sprintf("maker %d", i%40), [40]int64{int64(i)}}
	}
	return s
}

// know reads a description and registers it.
func (s *station) know(description []byte) (protoreflect.FileDescriptor, error) {
	var file descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(description, &file); err != nil {
		return nil, err
	}
	file.Name = proto.String(fmt.Sprintf("uploads/%d.proto", s.uploads))
	file.Package = proto.String(fmt.Sprintf("upload%d", s.uploads))
	to := s.schemas
	if s.own {
		to = new(protoregistry.Files)
	}
	known, err := protodesc.NewFile(&file, to) // truth: allocates
	if err != nil {
		return nil, err
	}
	return known, to.RegisterFile(known) // truth: keeps
}

func (s *station) take(u *upload) error {
	s.uploads++
	known, err := s.know(u.description) // truth: asks
	if err != nil {
		return err
	}
	m := dynamicpb.NewMessage(known.Messages().ByName("Measured"))
	if err := proto.Unmarshal(u.message, m); err != nil {
		return err
	}
	of := s.machines[s.uploads%len(s.machines)]
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		of.sums[int(field.Number())%len(of.sums)] += value.Int()
		return true
	})
	return nil
}

func main() {
	f := frame.Parse()
	s := newStation(f.Repaired)
	u, err := receive(f.Unit)
	if err != nil {
		log.Fatal(err)
	}
	f.Each(func(int) {
		if err := s.take(u); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
	log.Printf("%d uploads", s.uploads)
}
