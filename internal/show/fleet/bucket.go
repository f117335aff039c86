package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Bucket keeps recordings of incidents in a bucket that speaks S3: of AWS, MinIO, Ceph,
// SeaweedFS or a cloud's. A recording is one object that is written once.
type Bucket struct {
	name, prefix string
	options      BucketOptions
	client       *http.Client
	signer       *v4.Signer
}

// BucketOptions are where a bucket is, and who may use it. They are never of a row: whoever
// can write rows must not have anybody's keys sent to a place of his choice.
type BucketOptions struct {
	Options          // TLS, and whether plain HTTP may leave the machine
	Endpoint  string // "": AWS
	Region    string // "": us-east-1, which servers other than AWS's do not mind
	AccessKey string // "": nothing is signed, as of a bucket that everybody may read
	SecretKey string
	Session   string
}

// MostRecording is the size of the largest recording that is put or fetched.
const MostRecording = 64 << 20

// ErrNoObject is that a bucket does not have a recording.
var ErrNoObject = errors.New("it is not there")

// ErrBucketURL is that an address names no bucket.
var ErrBucketURL = errors.New("a bucket is s3://BUCKET, or s3://BUCKET/PREFIX")

// OpenBucket is the bucket of an address, s3://BUCKET/PREFIX. Nothing is asked of it yet.
func OpenBucket(address string, o BucketOptions) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || !isBucketName(u.Host) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, ErrBucketURL
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	t, err := transport(o.Options)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: t, Timeout: 5 * answerIn, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Bucket{name: u.Host, prefix: strings.Trim(u.Path, "/"), options: o, client: client,
		signer: v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true })}, nil
}

// check says whether a server can be meant.
func (o BucketOptions) check() error {
	if strings.Trim(o.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%q is no region", o.Region)
	}
	if o.Endpoint == "" {
		return nil
	}
	e, err := url.Parse(o.Endpoint)
	if err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" || e.User != nil || e.RawQuery != "" {
		return fmt.Errorf("%q is no address of a bucket's server, as https://HOST:9000", o.Endpoint)
	}
	if e.Scheme == "http" && !o.Insecure && !loopback(e.Hostname()) {
		return fmt.Errorf("http:// to %s would send recordings unencrypted", e.Hostname())
	}
	return nil
}

// isBucketName says whether a bucket may be called so; dots would break TLS in a host's name.
func isBucketName(s string) bool {
	return len(s) >= 3 && len(s) <= 63 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" && !strings.Contains(s, "..")
}

// Address is where an object of that key is, for a row: s3://BUCKET/PREFIX/KEY.
func (b *Bucket) Address(key string) string {
	return (&url.URL{Scheme: "s3", Host: b.name, Path: "/" + path.Join(b.prefix, key)}).String()
}

// RecordingKey is the key of an incident's recording, TENANT/SERVICE/YYYY/MM/DD/INCIDENT.hwm.
func RecordingKey(in Incident) string {
	return strings.Join([]string{inKey(in.Tenant), inKey(in.Service), in.At.UTC().Format("2006/01/02"), in.Incident.String() + ".hwm"}, "/")
}

// inKey is a name as a part of a key: letters, digits, and three marks.
func inKey(name string) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
	if strings.Trim(text, ".") == "" {
		return "_"
	}
	return text
}

// Put writes an object of a file, unless it is there: then it is the same.
func (b *Bucket) Put(ctx context.Context, key string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > MostRecording {
		return fmt.Errorf("%w: a recording of %d bytes", ErrRefused, info.Size())
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, info.Size())); err != nil {
		return err
	}
	for _, once := range []bool{true, false} {
		r, err := b.request(ctx, http.MethodPut, path.Join(b.prefix, key), io.NewSectionReader(f, 0, info.Size()))
		if err != nil {
			return err
		}
		r.ContentLength = info.Size()
		r.Header.Set("Content-Type", "application/vnd.highwater.recording")
		if once {
			r.Header.Set("If-None-Match", "*")
		}
		answer, err := b.do(r, hex.EncodeToString(sum.Sum(nil)))
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 4*mostError))
		answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusNotImplemented && once: // a server that does not know the condition
			continue
		case answer.StatusCode == http.StatusPreconditionFailed && once:
			return nil
		case answer.StatusCode == http.StatusOK && len(strings.TrimSpace(string(text))) > 0: // a proxy's page
			return fmt.Errorf("what answers there is no bucket: %s", firstLine(text))
		}
		return b.failure(answer.StatusCode, text)
	}
	return nil
}

// Get writes the object of an address, as Address gives it, to w: MostRecording bytes at most.
func (b *Bucket) Get(ctx context.Context, address string, w io.Writer) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host != b.name {
		return ErrBucketURL
	}
	r, err := b.request(ctx, http.MethodGet, strings.TrimPrefix(u.Path, "/"), nil)
	if err != nil {
		return err
	}
	answer, err := b.do(r, emptySum)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 4*mostError))
		return b.failure(answer.StatusCode, text)
	}
	n, err := io.Copy(w, io.LimitReader(answer.Body, MostRecording+1))
	if err == nil && n > MostRecording {
		err = fmt.Errorf("it has more than %d MiB", MostRecording>>20)
	}
	return err
}

// emptySum is the SHA-256 of nothing.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func (b *Bucket) request(ctx context.Context, method, key string, body io.Reader) (*http.Request, error) {
	u := url.URL{Scheme: "https", Host: b.name + ".s3." + b.options.Region + ".amazonaws.com", Path: "/" + key}
	if b.options.Endpoint != "" {
		e, err := url.Parse(b.options.Endpoint)
		if err != nil {
			return nil, err
		}
		u.Scheme, u.Host, u.Path = e.Scheme, e.Host, path.Join("/", e.Path, b.name, key)
	}
	return http.NewRequestWithContext(ctx, method, u.String(), body)
}

// do signs a request and sends it.
func (b *Bucket) do(r *http.Request, sum string) (*http.Response, error) {
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if o := b.options; o.AccessKey != "" {
		k := aws.Credentials{AccessKeyID: o.AccessKey, SecretAccessKey: o.SecretKey, SessionToken: o.Session}
		if err := b.signer.SignHTTP(r.Context(), k, r, sum, "s3", o.Region, time.Now()); err != nil {
			return nil, fmt.Errorf("sign a request: %w", err)
		}
	}
	answer, err := b.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("reach the bucket at %s: %w", r.URL.Host, withoutURL(err))
	}
	return answer, nil
}

// failure is what a status means, nil for success.
func (b *Bucket) failure(status int, text []byte) error {
	err := fmt.Errorf("the bucket %s answers %d: %s", b.name, status, firstLine(text))
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusNotFound && !strings.Contains(string(text), "NoSuchBucket"):
		return errors.Join(ErrNoObject, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return errors.Join(ErrCredentials, err)
	}
	return err
}

// Close lets go of connections.
func (b *Bucket) Close() { b.client.CloseIdleConnections() }
