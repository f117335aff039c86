package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func addStore(f *app.StoreFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Address, "store", os.Getenv(app.StoreVariable),
		"`URL` of the store: file:///DIRECTORY, or https://HOST:8443/DATABASE of ClickHouse (default: $"+app.StoreVariable+")")
	flags.Lookup("store").DefValue = ""
	fromEnvironment := f.Environment()
	flags.StringVar(&f.Tenant, "tenant", fromEnvironment.Tenant, "`name` of the cluster or team that the rows are of (default: $"+app.TenantVariable+
		", or default)")
	flags.StringVar(&f.Credentials, "credentials", fromEnvironment.Credentials,
		"`file` with USER:PASSWORD for the store, or with bearer TOKEN (default: $"+app.CredentialsVariable+")")
	flags.StringVar(&f.CA, "ca", fromEnvironment.CA, "`file` with the certificates to trust, instead of the system's (default: $"+app.CAVariable+")")
	for _, name := range []string{"tenant", "credentials", "ca"} {
		flags.Lookup(name).DefValue = "" // pages that are generated say the same everywhere
	}
	flags.StringVar(&f.Cert, "cert", "", "`file` with the certificate to show to the store")
	flags.StringVar(&f.Key, "key", "", "`file` with the key of that certificate")
	flags.BoolVar(&f.Insecure, "insecure", false, "allow http:// to another machine: whoever is between reads everything")
}
