package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// inOrder is the files by their path, the program first.
func (r *release) inOrder(t target, program string) []file {
	list := append([]file{}, r.files...)
	slices.SortFunc(list, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return append([]file{{r.program(t), program, 0o755}}, list...)
}

// archives packs every target: as tar.gz, for windows as zip.
func (r *release) archives() error {
	for _, t := range r.targets {
		packed, suffix := tarred, ".tar.gz"
		if t.os == "windows" {
			packed, suffix = zipped, ".zip"
		}
		b, err := packed(r.inOrder(t, t.program()), r.at)
		if err != nil {
			return err
		}
		if suffix == ".tar.gz" {
			b = compressed(b)
		}
		if err := os.WriteFile(r.name("_"+t.String()+suffix), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tarred is a tar of files, all of root, and of the directories above them.
func tarred(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	made := map[string]bool{}
	for _, f := range files {
		if err := makeAbove(w, made, f.path, at); err != nil {
			return nil, err
		}
		h := &tar.Header{Name: f.path, Mode: int64(f.mode.Perm()), ModTime: at, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if f.mode.IsDir() {
			h.Name, h.Typeflag = f.path+"/", tar.TypeDir
			if f.mode&os.ModeSticky != 0 {
				h.Mode |= 0o1000
			}
			if err := w.WriteHeader(h); err != nil {
				return nil, err
			}
			continue
		}
		content, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		h.Size = int64(len(content))
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// makeAbove writes the directories above a path that were not written yet.
func makeAbove(w *tar.Writer, made map[string]bool, path string, at time.Time) error {
	for i, c := range path {
		if dir := path[:i]; c == '/' && !made[dir] {
			made[dir] = true
			if err := w.WriteHeader(&tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: at, Format: tar.FormatUSTAR}); err != nil {
				return err
			}
		}
	}
	return nil
}

// compressed is a gzip without a name and a time.
func compressed(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one
	_, _ = w.Write(b)                                       // to memory
	_ = w.Close()
	return out.Bytes()
}

func zipped(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		content, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// sums writes SHA256SUMS of all that was made, as sha256sum -c reads it.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.to)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, e := range entries {
		sum, err := sumOf(filepath.Join(r.to, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(r.to, "SHA256SUMS"), []byte(text.String()), 0o644)
}

func sumOf(path string) (string, error) {
	b, err := os.ReadFile(path)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}
