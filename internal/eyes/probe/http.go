package probe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// maxBody is how much of an answer is read: a longer one counts as answered then.
const maxBody = 1 << 20

// webAsker gets one address over one connection, which stays open between
// requests as a browser's does.
type webAsker struct {
	url    string
	client *http.Client
}

func newWebAsker(u *url.URL) *webAsker {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = 1, 1
	transport.DisableCompression = true
	return &webAsker{u.String(), &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ask waits for an answer: a status below 500 is an answer, a redirection too; it has come when its body has, or maxBody
// of it.
func (a *webAsker) ask(ctx context.Context) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err := io.CopyN(io.Discard, answer.Body, maxBody); err != nil && !errors.Is(err, io.EOF) {
		return answer.StatusCode, err
	}
	if answer.StatusCode >= 500 {
		return answer.StatusCode, errors.New("the answer was " + answer.Status)
	}
	return answer.StatusCode, nil
}

func (a *webAsker) close() { a.client.CloseIdleConnections() }
