package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// Bounds of a push: how long the store may take, and how much of its answer is read.
const (
	pushTime   = 30 * time.Second
	pushAnswer = 64 << 10
)

const pushHint = "--push pyroscope+http://127.0.0.1:4040 or --push parca+http://127.0.0.1:7070"

// pushed is Pyroscope's push.v1.PushRequest as protobuf's JSON. Parca's is fleet.ParcaRequest.
type pushed struct {
	Series []pushedSeries `json:"series"`
}

type pushedSeries struct {
	Labels  []pushedLabel  `json:"labels"`
	Samples []pushedSample `json:"samples"`
}

type pushedSample struct {
	RawProfile []byte `json:"rawProfile"`
}

type pushedLabel struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// store is where a profile is pushed to.
type pushStore struct {
	url   string
	parca bool
}

// pushStoreOf reads --push.
func pushStoreOf(text string) (pushStore, error) {
	kind, rest, _ := strings.Cut(text, "+")
	u, err := url.Parse(rest)
	switch {
	case err != nil || u.Host == "" || kind != "pyroscope" && kind != "parca" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		return pushStore{}, Usagef(pushHint, "--push %s is not the address of a Pyroscope or a Parca", visible.Shell(text))
	case u.User != nil:
		return pushStore{}, Usagef("--push-token FILE", "--push has a password, which everybody who lists processes would see")
	case u.Scheme == "http" && !loopbackName(u.Hostname()):
		return pushStore{}, Usagef("use https", "http to %s would send the profile unencrypted", u.Hostname())
	}
	s := pushStore{parca: kind == "parca"}
	path := "push.v1.PusherService/Push" // Connect's protocol
	if s.parca {
		path = fleet.ParcaWriteRaw
	}
	s.url = u.JoinPath(path).String()
	return s, nil
}

func loopbackName(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// checkPush refuses what cannot be pushed.
func (f ExportFlags) checkPush() error {
	if f.Push == "" {
		if f.PushToken != "" {
			return Usagef(pushHint, "--push-token is for --push")
		}
		return nil
	}
	if f.CSV || f.JSON || f.Perfetto || f.Heapsnapshot || f.Holders || f.Format != "pprof" || f.Output != "" {
		return Usagef(pushHint, "--push sends a heap profile, goroutines, --resident or --native, as pprof, and writes no file")
	}
	_, err := pushStoreOf(f.Push)
	return err
}

// send writes a profile and sends it to the store.
func (f ExportFlags) send(ctx context.Context, s *Streams, write func(io.Writer) error) error {
	to, err := pushStoreOf(f.Push)
	if err != nil {
		return err
	}
	token, err := f.token()
	if err != nil {
		return err
	}
	var raw bytes.Buffer
	if err := write(&raw); err != nil {
		return err
	}
	body, service, err := to.body(raw.Bytes())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	if err := to.post(ctx, body, token); err != nil {
		return fmt.Errorf("push to %s: %w", f.Push, err)
	}
	visible.Fprintf(s.Err, "pushed %s to %s, as service_name %q\n", units.Size(raw.Len()), f.Push, service)
	return nil
}

func (f ExportFlags) token() (string, error) {
	if f.PushToken == "" {
		return "", nil
	}
	b, err := os.ReadFile(f.PushToken)
	if err != nil {
		return "", Usagef("--push-token names a file with the token alone", "%w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// body is the request, and the name that the program has in the store.
func (to pushStore) body(raw []byte) (body []byte, service string, err error) {
	p, err := profile.ParseData(raw)
	if err != nil {
		return nil, "", err
	}
	service = "unknown"
	if len(p.Mapping) > 0 && p.Mapping[0].File != "" {
		service = filepath.Base(p.Mapping[0].File)
	}
	name := "memory"
	if p.DefaultSampleType == "goroutine" {
		name = "goroutine"
	}
	if to.parca {
		return fleet.ParcaRequest([][2]string{{"__name__", name}, {"service_name", service}}, raw), service, nil
	}
	labels := []pushedLabel{{"__name__", name}, {"service_name", service}}
	body, err = json.Marshal(pushed{Series: []pushedSeries{{Labels: labels, Samples: []pushedSample{{raw}}}}})
	return body, service, err
}

// post sends a request. A proxy may answer 200 too: only JSON is the store's.
func (to pushStore) post(ctx context.Context, body []byte, token string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if to.parca {
		r.Header.Set("Content-Type", fleet.ParcaType)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	// A redirect would take the token elsewhere.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if to.parca {
		return fleet.ParcaAnswer(answer)
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, pushAnswer))
	if err != nil {
		return err
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("it answered %s: %.300q", answer.Status, strings.TrimSpace(string(said)))
	case kind != "application/json" || !json.Valid(said):
		return fmt.Errorf("what answered is not a store of profiles: %q instead of JSON", kind)
	}
	return nil
}
