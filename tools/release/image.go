package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"time"
)

// An image as OCI's specification 1.1 lays it out: blobs by their digest, and an index that
// names an image for each architecture.

type descriptor struct {
	MediaType string    `json:"mediaType"`
	Digest    string    `json:"digest"`
	Size      int       `json:"size"`
	Platform  *platform `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        *descriptor       `json:"config,omitempty"`
	Layers        []descriptor      `json:"layers,omitempty"`
	Manifests     []descriptor      `json:"manifests,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type imageConfig struct {
	platform
	Created time.Time `json:"created"`
	Config  struct {
		Entrypoint []string
		Env        []string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// layout is an image on its way: blobs by digest, in the order of their making.
type layout struct {
	names []string
	blobs map[string][]byte
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (l *layout) add(mediaType string, b []byte) descriptor {
	digest := digestOf(b)
	if l.blobs[digest] == nil {
		l.names, l.blobs[digest] = append(l.names, digest), b
	}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(b)}
}

func (l *layout) addJSON(mediaType string, v any) (descriptor, error) {
	b, err := json.Marshal(v)
	return l.add(mediaType, b), err
}

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// images writes the two images, each with both architectures of linux. The debug image has a
// shell with the common small programs besides; both begin with highwater.
func (r *release) images() error {
	if err := r.image("_image.oci.tar", ""); err != nil {
		return err
	}
	return r.image("_image-debug.oci.tar", "./debugshell")
}

func (r *release) image(suffix, shell string) error {
	l := &layout{blobs: map[string][]byte{}}
	index := manifest{SchemaVersion: 2, MediaType: typeIndex}
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		d, err := r.imageOf(l, t, shell)
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, d)
	}
	all, err := l.addJSON(typeIndex, index)
	if err != nil {
		return err
	}
	b, err := l.tar(all, r.at)
	if err != nil {
		return err
	}
	return os.WriteFile(r.name(suffix), b, 0o644)
}

// imageOf adds the image for one architecture.
func (r *release) imageOf(l *layout, t target, shell string) (descriptor, error) {
	files := []file{{r.program(t), "bin/highwater", 0o755}, {"", "tmp", os.ModeDir | os.ModeSticky | 0o777}}
	if shell != "" {
		program, err := r.shell(t, shell)
		if err != nil {
			return descriptor{}, err
		}
		files = append(files, file{program, "bin/sh", 0o755})
	}
	layer, err := tarred(files, r.at)
	if err != nil {
		return descriptor{}, err
	}
	config := imageConfig{platform: platform{t.arch, t.os}, Created: r.at}
	config.Config.Entrypoint, config.Config.Env = []string{"/bin/highwater"}, []string{"PATH=/bin"}
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.title": "highwater", "org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.source": "https://github.com/highwater-go/highwater",
	}
	config.RootFS.Type, config.RootFS.DiffIDs = "layers", []string{"sha256:" + digestOf(layer)}
	c, err := l.addJSON(typeConfig, config)
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON(typeManifest, manifest{SchemaVersion: 2, MediaType: typeManifest, Config: &c, Layers: []descriptor{l.add(typeLayer, compressed(layer))}})
	d.Platform = &platform{t.arch, t.os}
	return d, err
}

// tar is the layout as an archive, whose index names one image.
func (l *layout) tar(image descriptor, at time.Time) ([]byte, error) {
	index, err := json.Marshal(manifest{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{image}})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	write := func(name string, content []byte) {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: at, Format: tar.FormatUSTAR})
		}
		if err == nil {
			_, err = w.Write(content)
		}
	}
	write("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	write("index.json", index)
	for _, name := range l.names {
		write("blobs/sha256/"+name, l.blobs[name])
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}
