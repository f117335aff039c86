package app

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// metaOwn is the key of the code by which this user knows what try may run.
const metaOwn = "own"

// ownKeySize is that of the key in bytes: SHA-256's.
const ownKeySize = sha256.Size

// ownCode is a code (HMAC-SHA-256) of all that try would run of a recording, by a key that only this
// user has: a recording of somebody else's, or one that was changed, has none. The error is that there
// is no key, or no place for one.
func ownCode(m *recording.Meta, makeKey bool) (string, error) {
	key, err := ownKey(makeKey)
	if err != nil {
		return "", err
	}
	what, err := json.Marshal([]any{m.Command, m.More[metaSettings], m.More[metaLoad], m.More[metaDir], m.More[metaReady], m.More[metaFor], m.Limit})
	if err != nil {
		return "", err
	}
	code := hmac.New(sha256.New, key)
	code.Write(what)
	return hex.EncodeToString(code.Sum(nil)), nil
}

// isOwn says whether this user made a recording, and nobody has changed what it runs.
func isOwn(m *recording.Meta) bool {
	code, err := ownCode(m, false)
	return err == nil && hmac.Equal([]byte(code), []byte(m.More[metaOwn]))
}

// ownKey is the key in the state directory, which is made where it is asked for and not there.
func ownKey(makeIt bool) ([]byte, error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "own.key")
	key, err := readOwnKey(path)
	if !makeIt || !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if _, err := makeStateDir(); err != nil {
		return nil, err
	}
	made := make([]byte, ownKeySize)
	rand.Read(made) // which never fails
	if err := outfile.Write(path, func(w io.Writer) error { _, err := w.Write(made); return err }); err != nil {
		return nil, err
	}
	return readOwnKey(path) // another run may have made one meanwhile
}

func readOwnKey(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !owned(info) || info.Mode().Perm()&0o077 != 0 { // the directory may be another's
		return nil, fmt.Errorf("%s is not for this user alone", path)
	}
	key := make([]byte, ownKeySize)
	_, err = io.ReadFull(f, key)
	return key, err
}
