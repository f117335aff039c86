package app

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/show/fleet"
)

// StoreVariable says which store the commands of the fleet use, and an incident's ID as a
// recording; the others who asks it, as the flags of these names do.
const (
	StoreVariable       = "HIGHWATER_STORE"
	TenantVariable      = "HIGHWATER_TENANT"
	CredentialsVariable = "HIGHWATER_STORE_CREDENTIALS"
	CAVariable          = "HIGHWATER_STORE_CA"
)

// StoreFlags say which store, and who asks.
type StoreFlags struct {
	Address, Tenant string
	Credentials     string
	CA, Cert, Key   string
	Cluster         string
	Insecure, Plain bool
}

const storeHint = "--store file:///var/lib/highwater/fleet, or --store https://HOST:8443/DATABASE; " + StoreVariable + " sets it for all commands"

// Environment are the flags as the environment has them.
func (StoreFlags) Environment() StoreFlags {
	return StoreFlags{Address: os.Getenv(StoreVariable), Tenant: orWord(os.Getenv(TenantVariable), "default"), Credentials: os.Getenv(CredentialsVariable),
		CA: os.Getenv(CAVariable)}
}

// Open opens the store. The caller closes it.
func (f *StoreFlags) Open() (fleet.Store, error) {
	if f.Address == "" {
		return nil, Usagef(storeHint, "no store is named")
	}
	k, err := readCredentials(f.Credentials)
	if err != nil {
		return nil, err
	}
	s, err := fleet.Open(f.Address, fleet.Options{Credentials: k, Renew: func() (fleet.Credentials, error) { return readCredentials(f.Credentials) },
		Insecure: f.Insecure, CA: f.CA, Cert: f.Cert, Key: f.Key, Plain: f.Plain, Cluster: f.Cluster})
	if err != nil {
		return nil, Usagef(storeHint, "--store: %w", err)
	}
	return s, nil
}

// readCredentials reads the first line of a file, "USER:PASSWORD" or "bearer TOKEN".
func readCredentials(path string) (k fleet.Credentials, err error) {
	if path == "" {
		return k, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return k, fmt.Errorf("read --credentials: %w", err)
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 4096).ReadSlice('\n')
	if err != nil && len(line) == 0 || errors.Is(err, bufio.ErrBufferFull) {
		return k, Usagef("its first line is USER:PASSWORD, or bearer TOKEN", "%s has no credentials", path)
	}
	text := strings.TrimSpace(string(line))
	if token, ok := strings.CutPrefix(text, "bearer "); ok {
		return fleet.Credentials{Bearer: strings.TrimSpace(token)}, nil
	}
	user, password, ok := strings.Cut(text, ":")
	if !ok || user == "" {
		return k, Usagef("its first line is USER:PASSWORD, or bearer TOKEN", "%s has no credentials", path)
	}
	return fleet.Credentials{User: user, Password: password}, nil
}

// StoreError is what a store answers, with what to do about it.
func StoreError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fleet.ErrCredentials):
		return &ExitError{Code: exitNotPermitted, Err: err, Hint: "--credentials FILE, whose first line is USER:PASSWORD"}
	case errors.Is(err, fleet.ErrNone):
		return Usagef("highwater fleet incidents shows those that there are", "%w", err)
	case errors.Is(err, fleet.ErrRefused):
		return &ExitError{Code: ExitFailed, Err: err, Hint: "highwater fleet init makes the tables, or says how they differ"}
	}
	return err
}
