// Nackcounts is a meeting server's way in for video: streams come, lose packets that it asks for
// again, and go. It keeps the last pictures, 25 MiB.
package main

import (
	"bytes"
	"flag"
	"log"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

type stream struct {
	info   *interceptor.StreamInfo
	reader interceptor.RTPReader
	packet []byte
}

type meeting struct {
	pictures [250][]byte
	repair   interceptor.Interceptor
	asked    int
	open     []*stream
}

func newMeeting() (*meeting, error) {
	m := &meeting{}
	for i := range m.pictures {
		m.pictures[i] = bytes.Repeat([]byte{byte(i)}, 100_000)
	}
	factory, err := nack.NewGeneratorInterceptor(nack.GeneratorMaxNacksPerPacket(5), nack.GeneratorInterval(50*time.Millisecond))
	if err != nil {
		return nil, err
	}
	if m.repair, err = factory.NewInterceptor("meeting"); err != nil {
		return nil, err
	}
	m.repair.BindRTCPWriter(interceptor.RTCPWriterFunc(func(packets []rtcp.Packet, _ interceptor.Attributes) (int, error) {
		m.asked += len(packets)
		return len(packets), nil
	}))
	return m, nil
}

// join takes in a stream whose second packet is 400 numbers behind its first.
func (m *meeting) join(ssrc uint32) error {
	s := &stream{info: &interceptor.StreamInfo{SSRC: ssrc, ClockRate: 90_000, RTCPFeedback: []interceptor.RTCPFeedback{{Type: "nack"}}}}
	s.reader = m.repair.BindRemoteStream(s.info, interceptor.RTPReaderFunc(func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
		return copy(b, s.packet), a, nil
	}))
	m.open = append(m.open, s)
	for _, number := range []uint16{1, 401} {
		p := rtp.Packet{Header: rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: number}, Payload: make([]byte, 500)}
		var err error
		if s.packet, err = p.Marshal(); err != nil {
			return err
		}
		b := make([]byte, 1500)
		n, _, err := s.reader.Read(b, interceptor.Attributes{})
		if err != nil {
			return err
		}
		copy(m.pictures[int(ssrc)%len(m.pictures)], b[:n])
	}
	return nil
}

// leave keeps at most 140 streams.
func (m *meeting) leave() {
	for len(m.open) > 140 {
		m.repair.UnbindRemoteStream(m.open[0].info)
		m.open = append(m.open[:0], m.open[1:]...)
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	m, err := newMeeting()
	if err != nil {
		log.Fatal(err)
	}
	end, tick := time.Now().Add(*last), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for ssrc := uint32(1); time.Now().Before(end); {
		<-tick.C
		for range 10 {
			if err := m.join(ssrc); err != nil {
				log.Fatal(err)
			}
			ssrc++
		}
		m.leave()
	}
	m.repair.Close()
}
