package main

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/highwater-go/highwater/cases/raftcache/resp"
)

// at applies a command line as the log would, at a time in milliseconds.
func at(s *state, now int64, line string) any {
	var args [][]byte
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(word))
	}
	replies := (&machine{s}).Apply(&raft.Log{Data: encode(now, [][][]byte{args})}).([]any)
	return replies[0]
}

// Each line is applied to one state, in this order.
var script = []struct {
	now  int64
	line string
	want any
}{
	{1000, "GET k", nil},
	{1000, "SET k v", resp.Simple("OK")},
	{1000, "get k", "v"},
	{1000, "TTL k", int64(-1)},
	{1000, "SETEX k 2 w", resp.Simple("OK")},
	{1001, "TTL k", int64(2)},
	{2999, "GET k", "w"},
	{3000, "GET k", nil},
	{3000, "TTL k", int64(-2)},
	{3000, "DEL k", int64(0)},
	{3000, "SET k x EX 1", resp.Simple("OK")},
	{3000, "SET k x", resp.Simple("OK")}, // no longer expires
	{9000, "GET k", "x"},
	{9000, "SET k y PX 1", errSyntax},
	{9000, "SET k y EX soon", errInteger},
	{9000, "SETEX k 0 y", errExpire},
	{9000, "SETEX k 9223372036854775807 y", errExpire},
	{9000, "SET l z", resp.Simple("OK")},
	{9000, "DEL k l m", int64(2)},

	{9000, "ZREVRANGE r 0 -1", []string{}},
	{9000, "ZINCRBY r 2 ann", "2"},
	{9000, "ZINCRBY r 3.5 bob", "3.5"},
	{9000, "ZINCRBY r 1 cid", "1"},
	{9000, "ZINCRBY r 1.5 ann", "3.5"},
	{9000, "ZINCRBY r NaN ann", errFloat},
	{9000, "ZINCRBY r much ann", errFloat},
	{9000, "ZREVRANGE r 0 -1 WITHSCORES", []string{"bob", "3.5", "ann", "3.5", "cid", "1"}},
	{9000, "ZREVRANGE r 0 0", []string{"bob"}},
	{9000, "ZREVRANGE r -2 -1", []string{"ann", "cid"}},
	{9000, "ZREVRANGE r 1 99", []string{"ann", "cid"}},
	{9000, "ZREVRANGE r 2 1", []string{}},
	{9000, "ZREVRANGE r -9 -8", []string{}},
	{9000, "ZREVRANGE r 0 x", errInteger},
	{9000, "ZREVRANGE r 0 1 SCORES", errSyntax},
	{9000, "DEL r", int64(1)},

	{10_000, "HIT page", int64(1)},
	{10_900, "HIT page", int64(2)},
	{12_000, "HIT page", int64(1)},
	{11_500, "HIT page", int64(2)}, // the next leader's clock is behind: counted in the last second
	{12_000, "HITS page 1", int64(2)},
	{12_000, "HITS page 2", int64(2)},
	{12_000, "HITS page 3", int64(4)},
	{20_000, "HITS page 5", int64(0)},
	{20_000, "HITS page 3600", int64(4)},
	{20_000, "HITS page 3601", errors.New("ERR seconds are 1 to 3600")},
	{20_000, "HITS page 0", errors.New("ERR seconds are 1 to 3600")},
	{3_611_000, "HIT page", int64(1)},
	{3_611_000, "HITS page 3600", int64(3)}, // the first second was forgotten

	{0, "FLUSHALL", errors.New("ERR unknown command 'FLUSHALL'")},
	{0, "GET", errors.New("ERR use: GET key")},
	//lint:ignore ST1005 the dots are of what the server answers
	{0, "DEL", errors.New("ERR use: DEL key ...")},
}

func TestCommandsDoWhatTheySay(t *testing.T) {
	s := newState()
	for _, c := range script {
		got := at(s, c.now, c.line)
		if err, ok := got.(error); ok {
			if want, ok := c.want.(error); !ok || want.Error() != err.Error() {
				t.Errorf("%d %s: %v, want %v", c.now, c.line, got, c.want)
			}
			continue
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d %s: %v, want %v", c.now, c.line, got, c.want)
		}
	}
}

func TestASnapshotHoldsEverything(t *testing.T) {
	s, again := newState(), newState()
	for _, c := range script[:len(script)/2] {
		at(s, c.now, c.line)
	}
	at(again, 0, "SET old gone")
	var b bytes.Buffer
	if err := s.write(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	if err := again.read(bytes.NewReader(whole)); err != nil || !reflect.DeepEqual(s.data, again.data) {
		t.Errorf("%v: restored %v of %v", err, again.data, s.data)
	}
	if err := newState().read(bytes.NewReader(whole[:len(whole)/2])); err == nil {
		t.Error("half a snapshot was taken")
	}
}

func TestSweepingTakesOnlyWhatHasExpired(t *testing.T) {
	s := newState()
	at(s, 1000, "SET k v")
	at(s, 1000, "SETEX short 1 v")
	at(s, 1000, "SETEX long 9 v")
	if n := s.size(2000); n != 2 {
		t.Errorf("%d keys before the sweep, want 2", n)
	}
	s.sweep(2000)
	if len(s.Values) != 2 || at(s, 2000, "GET long") != "v" || at(s, 2000, "GET k") != "v" {
		t.Errorf("left: %v", s.Values)
	}
}

func TestPeersMustBeUnderstood(t *testing.T) {
	const good = "a=127.0.0.1:1=127.0.0.1:2,b=127.0.0.1:3=127.0.0.1:4"
	if self, all, err := parsePeers(good, "b"); err != nil || self.clients != "127.0.0.1:4" || len(all) != 2 {
		t.Errorf("%v, %v, %v", self, all, err)
	}
	for _, c := range []struct{ list, id string }{
		{good, "c"}, {"", ""}, {"a", "a"}, {"a=1=2=3", "a"}, {"a=0.0.0.0:1=127.0.0.1:2", "a"},
		{"a=127.0.0.1:1=127.0.0.1:1", "a"}, {good + "," + good, "a"},
	} {
		if _, _, err := parsePeers(c.list, c.id); err == nil {
			t.Errorf("%q was taken", c.list)
		}
	}
}
