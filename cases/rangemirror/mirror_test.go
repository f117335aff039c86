package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/s3local"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

func TestTheTruthAgreesWithTheSource(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		if err := truthfile.Relocate("."); err != nil {
			t.Fatal(err)
		}
	}
	if err := truthfile.Check(".", knownFaults...); err != nil {
		t.Error(err)
	}
}

// eachFault runs a test on the repaired program, and with each fault.
func eachFault(t *testing.T, test func(t *testing.T, fault *faults.Set)) {
	t.Helper()
	for _, name := range append([]string{"none"}, knownFaults...) {
		t.Run(name, func(t *testing.T) { test(t, faults.Of(name)) })
	}
}

// fewDigits makes prefixes of 256 ranges instead of 4,096.
const fewDigits = 4

func newStore(t *testing.T) (*s3local.Store, string) {
	t.Helper()
	store, err := s3local.New(bucket, false)
	if err != nil {
		t.Fatal(err)
	}
	return store, serve(t, store)
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func copied(string, int) {}

func TestAStoredTarListsEveryRangeOfThePrefix(t *testing.T) {
	eachFault(t, func(t *testing.T, fault *faults.Set) {
		store, storeURL := newStore(t)
		m := newMirror(fault, serve(t, origin(fewDigits)), storeURL+"/"+bucket, fewDigits, 16)
		if err := m.run(t.Context(), 3, copied); err != nil {
			t.Fatal(err)
		}
		if n := len(store.Objects()); n != 3 {
			t.Fatalf("%d objects, want 3", n)
		}
		for p := range 3 {
			archive, err := store.Get(fmt.Sprintf("%02X.tar", p))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, archive, p)
		}
	})
}

// compare reads an archive and holds each file against what the origin makes.
func compare(t *testing.T, archive []byte, prefix int) {
	t.Helper()
	files := tar.NewReader(bytes.NewReader(archive))
	for i := range 256 {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("file %d: %v", i, err)
		}
		if want := fmt.Sprintf("%02X%02X", prefix, i); header.Name != want {
			t.Fatalf("file %d is %s, want %s", i, header.Name, want)
		}
		got, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		writeRange(&want, uint64(prefix<<8+i))
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%s: %d bytes differ from the origin's %d", header.Name, len(got), want.Len())
		}
	}
	if _, err := files.Next(); err != io.EOF {
		t.Errorf("after the last file: %v", err)
	}
}

func TestABadAnswerEndsTheMirrorAndNamesTheRange(t *testing.T) {
	good := origin(fewDigits)
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		complaint string
	}{
		{"unknown", http.NotFound, "404"},
		{"another name", func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = "/range/xyz"
			good.ServeHTTP(w, r)
		}, "400"},
		{"cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "30000")
			w.Write(make([]byte, 20000))
		}, "unexpected EOF"},
		{"said to be huge", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(1<<40))
		}, "too many"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			for range 3 * maxRange / 4096 {
				w.Write(make([]byte, 4096))
			}
		}, "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachFault(t, func(t *testing.T, fault *faults.Set) {
				store, storeURL := newStore(t)
				bad := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/range/0042" {
						c.answer(w, r)
						return
					}
					good.ServeHTTP(w, r)
				}))
				err := newMirror(fault, bad, storeURL+"/"+bucket, fewDigits, 8).run(t.Context(), 1, copied)
				if err == nil || !strings.Contains(err.Error(), "prefix 00: range 0042: ") || !strings.Contains(err.Error(), c.complaint) {
					t.Errorf("error %v, want one of range 0042 with %q", err, c.complaint)
				}
				if n := len(store.Objects()); n != 0 {
					t.Errorf("%d objects were stored of a prefix that is not whole", n)
				}
			})
		})
	}
}

func TestAStoreThatRefusesEndsTheMirror(t *testing.T) {
	eachFault(t, func(t *testing.T, fault *faults.Set) {
		store, storeURL := newStore(t)
		m := newMirror(fault, serve(t, origin(fewDigits)), storeURL+"/"+bucket, fewDigits, 16)
		err := m.run(t.Context(), 9, func(prefix string, _ int) { store.Refuse(prefix == "01") })
		if err == nil || !strings.Contains(err.Error(), "prefix 02: store: it answers 503") {
			t.Errorf("error %v, want one of the store at prefix 02", err)
		}
		if n := len(store.Objects()); n != 2 {
			t.Errorf("%d objects, want the 2 before the refusal", n)
		}
	})
}

func TestAMirrorThatIsStoppedSaysSo(t *testing.T) {
	_, storeURL := newStore(t)
	m := newMirror(faults.Of(), serve(t, origin(fewDigits)), storeURL+"/"+bucket, fewDigits, 4)
	ctx, stop := context.WithCancel(t.Context())
	err := m.run(ctx, 256, func(string, int) { stop() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestTheCommandRefusesWhatItCannotDo(t *testing.T) {
	for _, args := range [][]string{{"-prefixes", "0"}, {"-prefixes", "257"}, {"-workers", "0"}, {"-fault", "leak"}, {"-debug", "0.0.0.0:1"}} {
		if err := mirrorCommand(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
	if err := serveCommand(t.Context(), []string{"-origin", "0.0.0.0:0"}, io.Discard); err == nil {
		t.Error("an origin for every network was made")
	}
}

func TestAnArenaKnowsTheSizeOfItsArchive(t *testing.T) {
	a := newArena(5, false)
	for i, size := range []int{0, 1, 511, 512, 70000} {
		if err := a.fill(i, bytes.NewReader(make([]byte, size)), int64(size)); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := a.pack(strconv.Itoa)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive) != a.archiveSize() {
		t.Errorf("%d bytes, foretold %d", len(archive), a.archiveSize())
	}
}
