// Openairetry answers letters with a language model that is often too busy at first, so that the
// client asks again. It keeps the letters, 25 MiB.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v2"
	"github.com/openai/openai-go/v2/option"
)

type office struct {
	model   openai.Client
	letters [25_000]string
}

func newOffice(url string) *office {
	o := &office{model: openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(2))}
	for i := range o.letters {
		o.letters[i] = strings.Repeat("l", 1000)
	}
	return o
}

// answer puts the answer to a letter in its place.
func (o *office) answer(ctx context.Context, n int) error {
	letter := &o.letters[n%len(o.letters)]
	answer, err := o.model.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model:    "small",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(*letter)},
	})
	if err != nil {
		return err
	}
	*letter = answer.Choices[0].Message.Content
	return nil
}

// model is too busy for each second question.
func model() http.HandlerFunc {
	var asked atomic.Int64
	words := strings.Repeat("thank you ", 100)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if asked.Add(1)%2 == 1 {
			w.Header().Set("Retry-After-Ms", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"message":"too busy","type":"busy"}}`)
			return
		}
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"%s"}}]}`, words)
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, model())
	o := newOffice("http://" + l.Addr().String())
	end, tick := time.Now().Add(*last), time.NewTicker(8*time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		if err := o.answer(context.Background(), n); err != nil {
			log.Fatal(err)
		}
	}
}
