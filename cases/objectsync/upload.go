package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// uploads puts objects into a bucket by the SDK's own uploader.
type uploads struct {
	uploader *manager.Uploader
	bucket   string
	noSeek   bool // stream into the upload through a pipe
}

// newUploads makes uploads to an S3-compatible store at http://HOST:PORT.
func newUploads(store, bucket string, noSeek bool) *uploads {
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(store),
		UsePathStyle: true,
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 2
			o.MaxBackoff = 100 * time.Millisecond
		}),
		// Checksums in trailers are not understood by every compatible store.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	})
	uploader := manager.NewUploader(client, func(u *manager.Uploader) {
		u.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	return &uploads{uploader: uploader, bucket: bucket, noSeek: noSeek}
}

// store stores what write writes as one object. If write fails, nothing is
// stored and its error is returned.
func (u *uploads) store(ctx context.Context, key string, write func(io.Writer) error) error {
	if u.noSeek {
		return u.stream(ctx, key, write)
	}
	var object bytes.Buffer
	if err := write(&object); err != nil {
		return err
	}
	// A bytes.Reader seeks: the uploader sends parts of it without a copy.
	return u.upload(ctx, key, bytes.NewReader(object.Bytes()))
}

// stream does the same without holding the object, or so it seems: a pipe can't
// seek, so the uploader takes a buffer of 5 MiB for each part before it reads
// the first byte, and keeps it until the part is sent. Here that is as long as
// the table takes to arrive.
func (u *uploads) stream(ctx context.Context, key string, write func(io.Writer) error) error {
	r, w := io.Pipe()
	var writing sync.WaitGroup
	defer writing.Wait()
	defer r.Close() // a write after the upload's end fails
	writing.Go(func() {
		w.CloseWithError(write(w)) // which the upload fails with; nil is io.EOF
	})
	_, err := u.uploader.Upload(ctx, u.input(key, r)) // fault: noseek
	return wrap(key, err)
}

func (u *uploads) upload(ctx context.Context, key string, body io.Reader) error {
	_, err := u.uploader.Upload(ctx, u.input(key, body))
	return wrap(key, err)
}

func (u *uploads) input(key string, body io.Reader) *s3.PutObjectInput {
	return &s3.PutObjectInput{Bucket: &u.bucket, Key: &key, Body: body}
}

func wrap(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("upload %s: %w", key, err)
}
