package fleet

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Parca's address for profiles, below that of its server. Its gateway for JSON, which the protocol's description has
// at /api/profiles/writeraw, is not reached in a real server: that answers with its page. What its own page speaks, gRPC-Web, is.
const (
	ParcaWriteRaw = "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"
	ParcaType     = "application/grpc-web+proto"
)

// mostParcaAnswer is how much of an answer is read: a status and a message.
const mostParcaAnswer = 64 << 10

// ParcaRequest is the body that writes one profile: a frame of gRPC-Web with a WriteRawRequest of
// parca/profilestore/v1alpha1/profilestore.proto. Labels are names and values.
func ParcaRequest(labels [][2]string, profile []byte) []byte {
	field := func(to []byte, number protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), b)
	}
	var set, series, request []byte
	for _, l := range labels {
		set = field(set, 1, field(field(nil, 1, []byte(l[0])), 2, []byte(l[1])))
	}
	series = field(field(nil, 1, set), 2, field(nil, 1, profile))
	request = field(nil, 2, series)
	request = protowire.AppendVarint(protowire.AppendTag(request, 3, protowire.VarintType), 1) // normalized: addresses are those of the file
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...)
}

// ParcaAnswer is nil where a server of gRPC-Web says that it took the request. Its status is in the
// header, or in the last frame of the body.
func ParcaAnswer(answer *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostParcaAnswer))
	if err != nil {
		return err
	}
	kind := answer.Header.Get("Content-Type")
	switch {
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("it answered %s: %.300q", answer.Status, strings.TrimSpace(string(text)))
	case !strings.HasPrefix(kind, "application/grpc-web"):
		return fmt.Errorf("what answered is not a store of profiles: %q instead of gRPC-Web", kind)
	}
	status, message := answer.Header.Get("Grpc-Status"), answer.Header.Get("Grpc-Message")
	for len(text) >= 5 && status == "" {
		flags, size := text[0], binary.BigEndian.Uint32(text[1:])
		text = text[5:]
		frame := text[:min(int(size), len(text))]
		text = text[len(frame):]
		if flags&0x80 != 0 { // trailers, as lines of a header
			status, message = trailer(frame, "grpc-status"), trailer(frame, "grpc-message")
		}
	}
	if code, err := strconv.Atoi(status); err != nil {
		return fmt.Errorf("what answered is not a store of profiles: no status of gRPC")
	} else if code != 0 {
		return fmt.Errorf("it answered with status %d of gRPC: %.300q", code, message)
	}
	return nil
}

// trailer is a field of trailers, "" where it is not there.
func trailer(lines []byte, name string) string {
	for line := range strings.Lines(string(lines)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
