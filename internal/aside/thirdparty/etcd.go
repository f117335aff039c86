package thirdparty

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Etcd is a single etcd server whose clients list everything: it builds each
// answer in memory, and an answer stays there as long as its client reads
// slowly. One list at a time is fine, four dozen at once are not.
func Etcd() Server {
	return Server{
		Name:    "etcd",
		Module:  "go.etcd.io/etcd/server/v3",
		Version: "v3.7.3",
		Package: "go.etcd.io/etcd/server/v3",
		Args: func(dir string, port int) []string {
			clients := "http://127.0.0.1:" + strconv.Itoa(port)
			// What it keeps of its log and of old revisions is full soon.
			return []string{
				"--snapshot-count", "200", "--snapshot-catchup-entries", "100", "--auto-compaction-mode", "revision", "--auto-compaction-retention", "100",
				"--data-dir", dir, "--log-level", "warn", "--unsafe-no-fsync",
				"--listen-client-urls", clients, "--advertise-client-urls", clients,
				"--listen-peer-urls", "http://127.0.0.1:0",
			}
		},
		Profiling: func(port, _ int) ([]string, int) {
			return []string{"--enable-pprof"}, port
		},
		Load: listAtOnce,
		Truth: Truth{
			Class:      "burst",
			Function:   "go.etcd.io/etcd/server/v3/storage/mvcc.(*storeTxnCommon).rangeKeys",
			Module:     "go.etcd.io/etcd/server/v3",
			FileSuffix: "storage/mvcc/kvstore_txn.go",
			Marker:     "if err := proto.Unmarshal(vs[0], kv); err != nil {",
		},
	}
}

const (
	etcdValue  = 1 << 20 // bytes of one value, under the server's limit of 1.5 MiB a request
	etcdValues = 12
	etcdHold   = 2 * time.Second // how long clients of a burst let their answers wait
)

// listAtOnce stores the values, lists them one client after the other, then
// with more and more clients at once.
func listAtOnce(ctx context.Context, address string, o Load) error {
	c := newEtcdClient(address)
	defer c.http.CloseIdleConnections()
	if err := c.fill(ctx); err != nil {
		return err
	}
	bursts := []int{1, 3, 2, 48}
	if o.Small {
		bursts = []int{1, 2}
	}
	for _, clients := range bursts {
		for range 8 {
			if err := c.list(ctx, 0); err != nil {
				return fmt.Errorf("one list: %w", err)
			}
		}
		o.logf("%d lists at once", clients)
		if err := c.listTogether(ctx, clients); err != nil {
			return fmt.Errorf("%d lists at once: %w", clients, err)
		}
	}
	return nil
}

// etcdClient calls etcd by gRPC over HTTP/2 without TLS. The few messages it
// needs are put together by hand.
type etcdClient struct {
	http    *http.Client
	address string
}

func newEtcdClient(address string) etcdClient {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return etcdClient{&http.Client{Transport: &http.Transport{Protocols: &protocols}}, address}
}

// fill stores the values under the keys k00, k01 and so on.
func (c etcdClient) fill(ctx context.Context) error {
	conn, err := dial(ctx, c.address)
	if err != nil {
		return err
	}
	conn.Close()
	value := make([]byte, etcdValue)
	for i := range etcdValues {
		put := field(field(nil, 1, fmt.Appendf(nil, "k%02d", i)), 2, value) // PutRequest: key, value
		if err := c.call(ctx, "Put", put, 0); err != nil {
			return fmt.Errorf("put: %w", err)
		}
	}
	return nil
}

// list reads all values, after it let the answer wait.
func (c etcdClient) list(ctx context.Context, wait time.Duration) error {
	return c.call(ctx, "Range", field(field(nil, 1, []byte("k")), 2, []byte("l")), wait) // RangeRequest: key, range_end
}

// listTogether lets n clients list at the same time, each slowly.
func (c etcdClient) listTogether(ctx context.Context, n int) error {
	var (
		clients sync.WaitGroup
		once    sync.Once
		first   error
	)
	for range n {
		clients.Go(func() {
			if err := c.list(ctx, etcdHold); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	clients.Wait()
	return first
}

// call makes one gRPC call and drops its answer, which it starts to read after
// a wait.
func (c etcdClient) call(ctx context.Context, method string, message []byte, wait time.Duration) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+"/etcdserverpb.KV/"+method, bytes.NewReader(grpcFrame(message)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("TE", "trailers")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := pause(ctx, wait); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if s := resp.Trailer.Get("Grpc-Status"); s != "0" {
		return fmt.Errorf("gRPC status %s %s%s", s, resp.Header.Get("Grpc-Message"), resp.Trailer.Get("Grpc-Message"))
	}
	return nil
}

// grpcFrame puts the five bytes before a message: not compressed, its length.
func grpcFrame(message []byte) []byte {
	n := len(message)
	return append([]byte{0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, message...)
}

// field appends a field of bytes in protobuf's wire form.
func field(to []byte, number byte, value []byte) []byte {
	to = append(to, number<<3|2)
	n := len(value)
	for ; n >= 0x80; n >>= 7 {
		to = append(to, byte(n)|0x80)
	}
	return append(append(to, byte(n)), value...)
}

// pause waits, or ends with ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
