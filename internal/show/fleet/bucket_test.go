package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// startBucket runs a server of S3 until the test ends, on ports of loopback, and makes a bucket.
func startBucket(t *testing.T) *Bucket {
	t.Helper()
	hwtest.LeftToMatrix(t, "runs a server of S3")
	program, err := hwtest.SeaweedFS()
	hwtest.Need(t, func() error { return err })
	dir, p := t.TempDir(), freePorts(t, 8)
	users := `{"identities":[{"name":"agent","credentials":[{"accessKey":"agent","secretKey":"of-the-agent"}],"actions":["Read","Write","List","Admin"]}]}`
	if err := os.WriteFile(filepath.Join(dir, "users.json"), []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	port := func(name string, n int) string { return fmt.Sprintf("-%s=%d", name, p[n]) }
	cmd := exec.Command(program, "-logtostderr=true", "server", "-dir="+dir, "-ip=127.0.0.1", "-ip.bind=127.0.0.1", port("master.port", 0),
		port("master.port.grpc", 1), port("volume.port", 2), port("volume.port.grpc", 3),
		"-filer=true", port("filer.port", 4), port("filer.port.grpc", 5), "-s3=true", port("s3.port", 6), port("s3.port.grpc", 7),
		"-s3.config="+filepath.Join(dir, "users.json"), "-master.telemetry=false", "-volume.max=2", "-master.volumeSizeLimitMB=64")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	b := openBucket(t, "s3://kills/of test", BucketOptions{Endpoint: fmt.Sprintf("http://127.0.0.1:%d", p[6]), AccessKey: "agent", SecretKey: "of-the-agent"})
	for begun := time.Now(); ; {
		err := makeBucket(t.Context(), b)
		if err == nil {
			return b
		}
		select {
		case <-ended:
		default:
			if time.Since(begun) < time.Minute {
				time.Sleep(50 * time.Millisecond) // it opens its port before it is ready, and tells nobody
				continue
			}
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("no server of S3: %v\n%s", err, text[max(0, len(text)-2000):])
	}
}

func makeBucket(ctx context.Context, b *Bucket) error {
	r, err := b.request(ctx, http.MethodPut, "", nil)
	if err != nil {
		return err
	}
	answer, err := b.do(r, emptySum)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return b.failure(answer.StatusCode, nil)
}

func openBucket(t *testing.T, address string, o BucketOptions) *Bucket {
	t.Helper()
	b, err := OpenBucket(address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func recordingOf(t *testing.T, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.hwm")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestARecordingGoesToABucketAndComesBack(t *testing.T) {
	t.Parallel()
	b := startBucket(t)
	for _, name := range append(strange, "..", "a/../b") {
		in := Incident{Tenant: name, Service: name, At: monday, Incident: hashOf(name)}
		f := recordingOf(t, "of "+name)
		for range 2 { // the second time it is there already
			if err := b.Put(t.Context(), RecordingKey(in), f); err != nil {
				t.Fatalf("%q: %v", name, err)
			}
		}
		if err := b.Put(t.Context(), RecordingKey(in), recordingOf(t, "another")); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := b.Get(t.Context(), b.Address(RecordingKey(in)), &got); err != nil || got.String() != "of "+name {
			t.Errorf("%q: %q, %v", name, got.String(), err)
		}
	}
	if err := b.Get(t.Context(), b.Address("nowhere.hwm"), &bytes.Buffer{}); !errors.Is(err, ErrNoObject) {
		t.Errorf("a recording that there is not: %v", err)
	}
	for _, wrong := range []string{"wrong", ""} {
		other := openBucket(t, "s3://kills", BucketOptions{Endpoint: b.options.Endpoint, AccessKey: "agent", SecretKey: wrong})
		if err := other.Put(t.Context(), "x", recordingOf(t, "x")); !errors.Is(err, ErrCredentials) {
			t.Errorf("with the password %q: %v", wrong, err)
		}
	}
	if err := openBucket(t, "s3://no-such-bucket", b.options).Put(t.Context(), "x", recordingOf(t, "x")); err == nil || errors.Is(err, ErrNoObject) {
		t.Errorf("a bucket that there is not: %v", err)
	}
}

func TestAnAddressOfABucketIsChecked(t *testing.T) {
	t.Parallel()
	for address, o := range map[string]BucketOptions{
		"s3://":                          {},
		"s3://user:secret@bucket/a":      {},
		"s3://Bucket":                    {},
		"https://bucket":                 {},
		"s3://bucket?endpoint=http://me": {},
		"s3://bucket":                    {Endpoint: "http://192.0.2.1:9000"},
		"s3://bucket/a":                  {Endpoint: "minio:9000"},
		"s3://bucket/b":                  {Region: "x.example.org/"},
	} {
		if _, err := OpenBucket(address, o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s, %+v: %v", address, o, err)
		}
	}
	b := openBucket(t, "s3://bucket/prefix/", BucketOptions{})
	if r, err := b.request(t.Context(), http.MethodGet, "prefix/k", nil); err != nil || r.URL.String() != "https://bucket.s3.us-east-1.amazonaws.com/prefix/k" {
		t.Errorf("%v, %v", r.URL, err)
	}
	if err := b.Get(t.Context(), "s3://another/k", &bytes.Buffer{}); !errors.Is(err, ErrBucketURL) {
		t.Errorf("a row names another bucket: %v", err)
	}
}

// bucketThat answers as it is told, request by request; the last answer stays.
func bucketThat(t *testing.T, answer func(n int, r *http.Request) (int, string)) *Bucket {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		status, body := answer(n, r)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return openBucket(t, "s3://kills", BucketOptions{Endpoint: server.URL, AccessKey: "agent", SecretKey: "of-the-agent"})
}

func TestWhatABucketAnswersIsToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(n int, r *http.Request) (int, string)
		ok     bool
		is     error
	}{
		"it takes it":          {func(int, *http.Request) (int, string) { return 200, "" }, true, nil},
		"it has it":            {func(int, *http.Request) (int, string) { return 412, "PreconditionFailed" }, true, nil},
		"it knows no If-Match": {func(n int, _ *http.Request) (int, string) { return []int{501, 200}[min(n-1, 1)], "" }, true, nil},
		"a proxy's page":       {func(int, *http.Request) (int, string) { return 200, "<html>Sign in</html>" }, false, nil},
		"forbidden":            {func(int, *http.Request) (int, string) { return 403, "AccessDenied" }, false, ErrCredentials},
		"away":                 {func(int, *http.Request) (int, string) { return 503, "SlowDown" }, false, nil},
		"elsewhere":            {func(int, *http.Request) (int, string) { return 307, "" }, false, nil},
	} {
		err := bucketThat(t, c.answer).Put(t.Context(), "k", recordingOf(t, "text"))
		if (err == nil) != c.ok || c.is != nil && !errors.Is(err, c.is) || err != nil && strings.Contains(err.Error(), "of-the-agent") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever may write to the bucket decides what is fetched: no more than a recording may have.
func TestARecordingThatIsTooLargeIsNotTaken(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", MostRecording+1)
	b := bucketThat(t, func(int, *http.Request) (int, string) { return 200, large })
	var got bytes.Buffer
	if err := b.Get(t.Context(), b.Address("k"), &got); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") || got.Len() > MostRecording+1 {
		t.Errorf("%v after %d bytes", err, got.Len())
	}
	f := recordingOf(t, "")
	if err := os.Truncate(f.Name(), MostRecording+1); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "k", f); !errors.Is(err, ErrRefused) {
		t.Errorf("put: %v", err)
	}
}

// waiting makes recordings that wait for a bucket, each with its incident.
func waitingFor(t *testing.T, u *Uploads, services ...string) {
	t.Helper()
	for i, name := range services {
		path := filepath.Join(u.dir, name+".hwm")
		if err := os.WriteFile(path, []byte(strings.Repeat(name, 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, monday.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := u.Add(Incident{Tenant: "t", Service: name, At: monday, Incident: hashOf(name)}, path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARecordingWaitsForItsBucketAndItsRowFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	up := false
	b := bucketThat(t, func(int, *http.Request) (int, string) {
		if up {
			return 200, ""
		}
		return 503, "SlowDown"
	})
	var rows []Incident
	u := NewUploads(dir, 1<<20, b, func(in Incident) { rows = append(rows, in) })
	waitingFor(t, u, "a", "b")
	if err := u.Drain(t.Context()); err == nil || len(rows) != 0 || u.Stats().Waiting != 2 {
		t.Fatalf("%v, %+v", err, u.Stats())
	}
	u = NewUploads(dir, 1<<20, b, u.row) // the agent was killed
	up = true
	if err := u.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Recording != "s3://kills/t/a/2026/11/16/"+hashOf("a").String()+".hwm" || rows[0].RecordingBytes != 100 ||
		rows[0].Written.IsZero() {
		t.Errorf("%+v", rows)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRecordingsThatWaitHaveABound(t *testing.T) {
	t.Parallel()
	u := NewUploads(t.TempDir(), 250, bucketThat(t, func(int, *http.Request) (int, string) { return 503, "" }), func(Incident) {})
	waitingFor(t, u, "a", "b", "c", "d")
	left, _ := filepath.Glob(filepath.Join(u.dir, "*.hwm"))
	if st := u.Stats(); st.Dropped != 2 || st.Bytes > 250 || len(left) != 2 || filepath.Base(left[1]) != "d.hwm" {
		t.Errorf("%+v, %v", st, left)
	}
}

func TestATornSidecarDoesNotHoldUpTheNext(t *testing.T) {
	t.Parallel()
	rows := 0
	u := NewUploads(t.TempDir(), 1<<20, bucketThat(t, func(int, *http.Request) (int, string) { return 200, "" }), func(Incident) { rows++ })
	waitingFor(t, u, "a", "b")
	if err := os.Truncate(filepath.Join(u.dir, "a.hwm"+sidecar), 5); err != nil {
		t.Fatal(err)
	}
	if err := u.Drain(t.Context()); err != nil || rows != 1 || u.Stats().Dropped != 1 {
		t.Errorf("%v, %d rows, %+v", err, rows, u.Stats())
	}
}
