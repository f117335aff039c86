package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/fleet"
	"github.com/highwater-go/highwater/internal/regular"
)

// storeVariable says which store the commands of the fleet use.
const storeVariable = "HIGHWATER_STORE"

// storeFlags say which store, and who asks.
type storeFlags struct {
	address, tenant string
	credentials     string
	ca, cert, key   string
	cluster         string
	insecure, plain bool
}

const storeHint = "--store file:///var/lib/highwater/fleet, or --store https://HOST:8443/DATABASE; " + storeVariable + " sets it for all commands"

func addStore(f *storeFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.address, "store", os.Getenv(storeVariable), "`URL` of the store: file:///DIRECTORY, or https://HOST:8443/DATABASE of ClickHouse (default: $"+storeVariable+")")
	flags.Lookup("store").DefValue = ""
	flags.StringVar(&f.tenant, "tenant", "default", "`name` of the cluster or team that the rows are of")
	flags.StringVar(&f.credentials, "credentials", "", "`file` with USER:PASSWORD for the store, or with bearer TOKEN")
	flags.StringVar(&f.ca, "ca", "", "`file` with the certificates to trust, instead of the system's")
	flags.StringVar(&f.cert, "cert", "", "`file` with the certificate to show to the store")
	flags.StringVar(&f.key, "key", "", "`file` with the key of that certificate")
	flags.BoolVar(&f.insecure, "insecure", false, "allow http:// to another machine: whoever is between reads everything")
}

// open opens the store. The caller closes it.
func (f *storeFlags) open() (fleet.Store, error) {
	if f.address == "" {
		return nil, usagef(storeHint, "no store is named")
	}
	k, err := readCredentials(f.credentials)
	if err != nil {
		return nil, err
	}
	s, err := fleet.Open(f.address, fleet.Options{Credentials: k, Insecure: f.insecure, CA: f.ca, Cert: f.cert, Key: f.key, Plain: f.plain, Cluster: f.cluster})
	if err != nil {
		return nil, usagef(storeHint, "--store: %w", err)
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
		return k, usagef("its first line is USER:PASSWORD, or bearer TOKEN", "%s has no credentials", path)
	}
	text := strings.TrimSpace(string(line))
	if token, ok := strings.CutPrefix(text, "bearer "); ok {
		return fleet.Credentials{Bearer: strings.TrimSpace(token)}, nil
	}
	user, password, ok := strings.Cut(text, ":")
	if !ok || user == "" {
		return k, usagef("its first line is USER:PASSWORD, or bearer TOKEN", "%s has no credentials", path)
	}
	return fleet.Credentials{User: user, Password: password}, nil
}

// storeError is what a store answers, with what to do about it.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fleet.ErrCredentials):
		return &exitError{code: exitNotPermitted, err: err, hint: "--credentials FILE, whose first line is USER:PASSWORD"}
	case errors.Is(err, fleet.ErrNone):
		return usagef("highwater fleet incidents shows those that there are", "%w", err)
	case errors.Is(err, fleet.ErrRefused):
		return &exitError{code: exitFailed, err: err, hint: "highwater fleet init makes the tables, or says how they differ"}
	}
	return err
}
