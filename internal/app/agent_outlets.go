package app

import (
	"context"
	"errors"
	"os"

	"github.com/highwater-go/highwater/internal/show/fleet"
)

// BucketFlags say where a bucket is, and who asks.
type BucketFlags struct {
	Endpoint, Region, Keys string
}

// The settings of a bucket's user: the first is our own, the others what other clients of
// S3 read too.
const (
	BucketKeysVariable     = "HIGHWATER_BUCKET_CREDENTIALS"
	BucketEndpointVariable = "AWS_ENDPOINT_URL_S3"
	BucketRegionVariable   = "AWS_REGION"
)

const bucketHint = "--recordings s3://BUCKET/PREFIX, with --bucket-endpoint https://HOST:9000 where it is not AWS"

// bucket opens a bucket. The caller closes it.
func (f BucketFlags) bucket(address string, store StoreFlags) (*fleet.Bucket, error) {
	o := fleet.BucketOptions{Options: fleet.Options{Insecure: store.Insecure, CA: store.CA}, Endpoint: orWord(f.Endpoint, os.Getenv(BucketEndpointVariable)),
		Region: orWord(f.Region, os.Getenv(BucketRegionVariable))}
	if file := orWord(f.Keys, os.Getenv(BucketKeysVariable)); file != "" {
		k, err := readCredentials(file)
		if err != nil || k.User == "" {
			return nil, errors.Join(err, Usagef("its first line is ACCESS_KEY:SECRET_KEY", "%s has no keys of a bucket", file))
		}
		o.AccessKey, o.SecretKey = k.User, k.Password
	} else {
		o.AccessKey, o.SecretKey, o.Session = os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")
	}
	b, err := fleet.OpenBucket(address, o)
	if err != nil {
		return nil, Usagef(bucketHint, "--recordings: %w", err)
	}
	return b, nil
}

// outlets are what is told of incidents beside the store.
type outlets struct {
	*fleet.Outlets // nil: nothing is
	wantsProfiles  bool
}

// Tell tells them all.
func (o outlets) Tell(in fleet.Incident, who fleet.Identity, profile []byte) {
	if o.Outlets != nil {
		o.Outlets.Tell(in, who, profile)
	}
}

// Close waits until all were told.
func (o outlets) Close() {
	if o.Outlets != nil {
		o.Outlets.Close()
	}
}

// open begins to tell what the flags name.
func (o *outlets) open(ctx context.Context, a *agent) error {
	all, err := a.flags.outlets(a.collector.Tool())
	if err != nil || len(all) == 0 || a.flags.Print {
		return err
	}
	o.wantsProfiles = a.flags.Push != ""
	o.Outlets = fleet.NewOutlets(ctx, all, func(err error) { a.status.say("highwater: %v", err) })
	return nil
}

func (f *AgentFlags) outlets(tool string) (all []fleet.Outlet, err error) {
	o := fleet.Options{Insecure: f.Insecure, CA: f.CA}
	if f.Events {
		one, err := fleet.NewPodEvents()
		if err != nil {
			return nil, Usagef("--events is for an agent in a pod: deploy/kubernetes/agent.yaml", "--events: %w", err)
		}
		all = append(all, one)
	}
	if f.OTLP != "" {
		one, err := fleet.NewOTLPLogs(f.OTLP, tool, o)
		if err != nil {
			return nil, Usagef("--otlp https://HOST:4318", "--otlp: %w", err)
		}
		all = append(all, one)
	}
	if f.Push != "" {
		one, err := fleet.NewProfiles(f.Push, o)
		if err != nil {
			return nil, Usagef("--push pyroscope+https://HOST:4040", "--push: %w", err)
		}
		all = append(all, one)
	}
	return all, nil
}

// complain says once of each program why it is not watched.
func (a *agent) complain(complaints []error) {
	for _, err := range complaints {
		if !errors.Is(err, errOff) {
			a.status.say("highwater: not watched: %v", err)
		}
	}
}

// cannotLook says when looking for programs begins to fail, and when it works again. It reports whether the look failed.
func (a *agent) cannotLook(err error) bool {
	switch {
	case err != nil && !a.blind:
		a.status.say("highwater: programs that start now are not watched: %v", err)
	case err == nil && a.blind:
		a.status.say("highwater: programs that start are watched again")
	}
	a.blind = err != nil
	return a.blind
}

// more is what metrics say of the agent beside its rows.
func (a *agent) more() fleet.More {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := fleet.More{Unwatched: map[string]int{}, Outlets: a.outlets.Outlets.Counts()}
	for _, why := range []string{unwatchedHidden, unwatchedRefused, unwatchedBeyond, unwatchedOff} {
		m.Unwatched[why] = a.unwatched[why]
	}
	if a.uploads != nil {
		m.Uploads = a.uploads.Stats()
	}
	return m
}
