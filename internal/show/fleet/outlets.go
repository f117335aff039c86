package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Outlet is told of each incident, beside the store: what users run already shows it too.
type Outlet interface {
	// Name is what it is called in messages.
	Name() string
	// Tell tells it. profile is the heap profile of the moment as pprof, nil: there is none.
	Tell(ctx context.Context, in Incident, who Identity, profile []byte) error
}

// Outlets tells several, each on its own, in order, and tries again for a while. The store
// is what loses nothing: of an outlet that is away for long, the oldest incidents go.
type Outlets struct {
	queues []chan told
	tell   func(error)
	ended  sync.WaitGroup
	mu     sync.Mutex
	counts map[string]*OutletCount
}

// OutletCount is how one outlet did.
type OutletCount struct{ Told, Lost uint64 }

type told struct {
	in      Incident
	who     Identity
	profile []byte
}

const (
	mostTold  = 100 // that wait for one outlet
	toldTries = 5
)

// NewOutlets begins to tell all, until ctx ends. tell is told of what went wrong.
func NewOutlets(ctx context.Context, all []Outlet, tell func(error)) *Outlets {
	o := &Outlets{tell: tell, counts: map[string]*OutletCount{}}
	for _, one := range all {
		q := make(chan told, mostTold)
		o.queues = append(o.queues, q)
		count := &OutletCount{}
		o.counts[one.Name()] = count
		o.ended.Go(func() {
			for t := range q {
				o.one(ctx, one, t, count)
			}
		})
	}
	return o
}

// Tell has all outlets told.
func (o *Outlets) Tell(in Incident, who Identity, profile []byte) {
	for _, q := range o.queues {
		select {
		case q <- told{in, who, profile}:
		default:
			o.tell(fmt.Errorf("an incident was not told, as %d wait", mostTold))
		}
	}
}

func (o *Outlets) one(ctx context.Context, to Outlet, t told, count *OutletCount) {
	var err error
	wait := time.Second
	for range toldTries {
		try, cancel := context.WithTimeout(ctx, answerIn)
		err = to.Tell(try, t.in, t.who, t.profile)
		cancel()
		if err == nil || errors.Is(err, ErrRefused) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait *= 2
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		count.Told++
		return
	}
	count.Lost++
	o.tell(fmt.Errorf("%s was not told of incident %s: %w", to.Name(), t.in.Incident.String()[:12], err))
}

// Counts are how the outlets did, by name.
func (o *Outlets) Counts() map[string]OutletCount {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	all := map[string]OutletCount{}
	for name, c := range o.counts {
		all[name] = *c
	}
	return all
}

// Close waits until what was told has come to its end.
func (o *Outlets) Close() {
	for _, q := range o.queues {
		close(q)
	}
	o.ended.Wait()
}

// postJSON sends a value; a status of 2xx is well.
func postJSON(ctx context.Context, client *http.Client, address, bearer string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(b))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("reach %s: %w", r.URL.Host, withoutURL(err))
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4*mostError))
	err = fmt.Errorf("%s answers %d: %s", r.URL.Host, answer.StatusCode, firstLine(text))
	switch {
	case answer.StatusCode/100 == 2 && !strings.HasPrefix(strings.TrimSpace(string(text)), "<"):
		return nil
	case answer.StatusCode == http.StatusTooManyRequests, answer.StatusCode == http.StatusUnauthorized, answer.StatusCode == http.StatusForbidden,
		answer.StatusCode/100 != 4:
		return err
	}
	return errors.Join(ErrRefused, err)
}

// outletClient is the client of an address, which may leave the machine by https alone.
func outletClient(address string, o Options) (*http.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fmt.Errorf("%q is no address, as https://HOST:PORT", address)
	}
	if u.Scheme == "http" && !o.Insecure && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("http:// to %s would send everything unencrypted", u.Hostname())
	}
	t, err := transport(o)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: t, Timeout: answerIn, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// Where a pod finds its API server, and who it is there
// (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
const (
	serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"
	// EventReason is the reason of the Events.
	EventReason = "GoMemoryKill"
	mostMessage = 1024 // bytes of an Event's message that the API server takes
)

// PodEvents creates an Event on the pod of each incident: what kubectl describe shows.
type PodEvents struct {
	address string
	account string // directory of the token, read anew each time, and the certificate
	client  *http.Client
}

// NewPodEvents uses the service account of the pod that this agent is in.
func NewPodEvents() (*PodEvents, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" {
		return nil, errors.New("$KUBERNETES_SERVICE_HOST is not set: Events are created by an agent in a pod")
	}
	return podEvents("https://"+net.JoinHostPort(strings.Trim(host, "[]"), cmp.Or(port, "443")), serviceAccount)
}

func podEvents(address, account string) (*PodEvents, error) {
	client, err := outletClient(address, Options{CA: filepath.Join(account, "ca.crt")})
	return &PodEvents{address: address, account: account, client: client}, err
}

// Name is what it is called in messages.
func (*PodEvents) Name() string { return "kubernetes" }

// Tell creates the Event. An incident of no pod has none.
func (p *PodEvents) Tell(ctx context.Context, in Incident, who Identity, _ []byte) error {
	if who.Pod == "" || who.Namespace == "" {
		return nil
	}
	token, err := os.ReadFile(filepath.Join(p.account, "token")) // the kubelet renews it
	if err != nil {
		return fmt.Errorf("read the token of the service account: %w", err)
	}
	text := in.Sentence
	if in.Cause != "" {
		text += " " + in.Cause
	}
	end := " (highwater explain " + in.Incident.String()[:12] + ")"
	if in.Image != "" {
		end = " Image " + in.Image + "." + end
	}
	text = strings.ToValidUTF8(text[:min(len(text), mostMessage-len(end))], "") + end
	at := in.At.UTC().Format(time.RFC3339)
	object := map[string]any{"apiVersion": "v1", "kind": "Pod", "namespace": who.Namespace, "name": who.Pod}
	if who.PodUID != "" {
		object["uid"] = who.PodUID
	}
	if who.Container != "" {
		object["fieldPath"] = "spec.containers{" + who.Container + "}"
	}
	event := map[string]any{"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": "highwater-" + in.Incident.String(),
		"namespace": who.Namespace},
		"involvedObject": object, "reason": EventReason, "message": text, "type": "Warning", "count": 1, "firstTimestamp": at, "lastTimestamp": at,
		"source": map[string]any{"component": "highwater-agent", "host": in.Node}, "reportingComponent": "highwater.dev/agent", "reportingInstance": in.Node}
	err = postJSON(ctx, p.client, p.address+"/api/v1/namespaces/"+url.PathEscape(who.Namespace)+"/events", strings.TrimSpace(string(token)), event)
	if err != nil && strings.Contains(err.Error(), "answers 409") { // it was created, and the answer lost
		return nil
	}
	return err
}

// OTLPLogs sends each incident as a log record by OTLP over HTTP in JSON, which is stable
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
type OTLPLogs struct {
	address, bearer, tool string
	client                *http.Client
}

// NewOTLPLogs sends to a collector, https://HOST:4318.
func NewOTLPLogs(address, tool string, o Options) (*OTLPLogs, error) {
	client, err := outletClient(address, o)
	return &OTLPLogs{address: strings.TrimSuffix(address, "/") + "/v1/logs", bearer: o.Credentials.Bearer, tool: tool, client: client}, err
}

// Name is what it is called in messages.
func (*OTLPLogs) Name() string { return "otlp" }

// Tell sends the record: its body is the sentence, its attributes what a query asks for.
func (o *OTLPLogs) Tell(ctx context.Context, in Incident, who Identity, _ []byte) error {
	type value struct {
		String string `json:"stringValue,omitempty"`
		Int    string `json:"intValue,omitempty"` // as the JSON of protocol buffers has 64 bits
	}
	type attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	list := func(pairs ...string) (all []attribute) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				all = append(all, attribute{pairs[i], value{String: pairs[i+1]}})
			}
		}
		return all
	}
	resource := list("service.name", in.Service, "service.version", in.Version, "host.name", in.Node, "k8s.namespace.name", in.Namespace, "k8s.pod.name", in.Pod,
		"k8s.container.name", in.Container, "k8s.pod.uid", who.PodUID, "container.id", who.ContainerID, "container.image.name", in.Image, "k8s.cluster.name",
		in.Tenant)
	more := list("highwater.incident", in.Incident.String(), "highwater.kind", in.Kind, "highwater.class", in.Class, "highwater.confidence", in.Confidence,
		"highwater.fingerprint", in.Fingerprint, "highwater.cause", in.Cause,
		"code.function.name", in.Function, "code.file.path", in.File, "highwater.recording", in.Recording)
	if in.Line > 0 {
		more = append(more, attribute{"code.line.number", value{Int: strconv.Itoa(int(in.Line))}})
	}
	if in.Limit.OK {
		more = append(more, attribute{"highwater.limit", value{Int: strconv.FormatUint(in.Limit.V, 10)}})
	}
	at := strconv.FormatInt(in.At.UnixNano(), 10)
	record := map[string]any{"timeUnixNano": at, "observedTimeUnixNano": at, "severityNumber": 17, "severityText": "ERROR", "eventName": "highwater.incident",
		"body": value{String: in.Sentence}, "attributes": more}
	return postJSON(ctx, o.client, o.address, o.bearer, map[string]any{"resourceLogs": []any{map[string]any{
		"resource":  map[string]any{"attributes": resource},
		"scopeLogs": []any{map[string]any{"scope": map[string]any{"name": "highwater", "version": o.tool}, "logRecords": []any{record}}}}}})
}

// profileSeries names a series of a profile: of one incident alone, so that no server adds
// up what two instants held.
func profileSeries(in Incident) [][2]string {
	labels := [][2]string{{"__name__", "memory"}, {"service_name", in.Service}, {"version", in.Version}, {"kind", in.Kind}, {"class", in.Class},
		{"incident", in.Incident.String()[:16]}, {"node", in.Node}, {"namespace", in.Namespace}, {"pod", in.Pod}, {"container", in.Container}}
	kept := labels[:0]
	for _, l := range labels {
		if l[1] != "" {
			kept = append(kept, l)
		}
	}
	return kept
}

// Profiles pushes the heap profile of each incident to Pyroscope or to Parca.
type Profiles struct {
	kind, address, bearer string
	client                *http.Client
}

// NewProfiles pushes to pyroscope+https://HOST:4040 or parca+https://HOST:7070.
func NewProfiles(address string, o Options) (*Profiles, error) {
	kind, rest, ok := strings.Cut(address, "+")
	if !ok || kind != "pyroscope" && kind != "parca" {
		return nil, fmt.Errorf("%q is no server of profiles: pyroscope+https://HOST:4040 or parca+https://HOST:7070", address)
	}
	client, err := outletClient(rest, o)
	return &Profiles{kind: kind, address: strings.TrimSuffix(rest, "/"), bearer: o.Credentials.Bearer, client: client}, err
}

// Name is what it is called in messages.
func (p *Profiles) Name() string { return p.kind }

// Tell pushes the profile. Without one there is nothing to push.
func (p *Profiles) Tell(ctx context.Context, in Incident, _ Identity, profile []byte) error {
	if len(profile) == 0 {
		return nil
	}
	if p.kind == "parca" {
		return p.writeRaw(ctx, ParcaRequest(profileSeries(in), profile))
	}
	var labels []map[string]string
	for _, l := range profileSeries(in) {
		labels = append(labels, map[string]string{"name": l[0], "value": l[1]})
	}
	raw := base64.StdEncoding.EncodeToString(profile)
	id := in.Incident
	uuid := hex.EncodeToString(id[:])
	uuid = uuid[:8] + "-" + uuid[8:12] + "-" + uuid[12:16] + "-" + uuid[16:20] + "-" + uuid[20:]
	return postJSON(ctx, p.client, p.address+"/push.v1.PusherService/Push", p.bearer, map[string]any{
		"series": []any{map[string]any{"labels": labels, "samples": []any{map[string]string{"ID": uuid, "rawProfile": raw}}}}})
}

// writeRaw sends a request to a Parca.
func (p *Profiles) writeRaw(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address+ParcaWriteRaw, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", ParcaType)
	if p.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+p.bearer)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return fmt.Errorf("reach %s: %w", r.URL.Host, withoutURL(err))
	}
	defer answer.Body.Close()
	if err := ParcaAnswer(answer); err != nil {
		return fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	return nil
}
