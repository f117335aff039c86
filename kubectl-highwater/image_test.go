package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// imageOf is an archive as docker save writes it, with one layer of programs.
func imageOf(t *testing.T, name string, entrypoint []string, programs map[string]string) []byte {
	t.Helper()
	files := map[string][]byte{}
	for to, from := range programs {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(to, "/")] = b
	}
	layer := tarOf(t, files, "tmp/", "proc/", "sys/", "dev/", "etc/")
	asJSON := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return tarOf(t, map[string][]byte{
		"layer.tar": layer,
		"config.json": asJSON(map[string]any{"architecture": "amd64", "os": "linux", "config": map[string]any{"Entrypoint": entrypoint, "Env": []string{"PATH=/bin"}},
			"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}}}),
		"manifest.json": asJSON([]map[string]any{{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"}}}),
	})
}

func tarOf(t *testing.T, files map[string][]byte, dirs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(h *tar.Header, content []byte) {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range dirs {
		put(&tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o1777}, nil)
	}
	for name, content := range files {
		put(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content))}, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
