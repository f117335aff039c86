package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/cases/raftcache/resp"
)

// command is one that the leader answers: writes on every node when the log
// says so, reads on the leader alone.
type command struct {
	name  string
	write bool
	least int // arguments, without the name
	most  int
	usage string
	do    func(s *state, now int64, a []string) any
}

// sharedCommands are in the order of the README. Those that Redis knows mean the same
// there; HIT and HITS are ours.
var sharedCommands = []command{
	{"GET", false, 1, 1, "key", get},
	{"SET", true, 2, 4, "key value [EX seconds]", set},
	{"SETEX", true, 3, 3, "key seconds value", setex},
	{"TTL", false, 1, 1, "key", ttl},
	{"DEL", true, 1, math.MaxInt, "key ...", del},
	{"ZINCRBY", true, 3, 3, "ranking by member", zincrby},
	{"ZREVRANGE", false, 3, 4, "ranking from to [WITHSCORES]", zrevrange},
	{"HIT", true, 1, 1, "counter", hit},
	{"HITS", false, 2, 2, "counter seconds", hits},
}

// lookup finds the command and refuses a wrong number of arguments, so that
// only what can be applied gets into the log.
func lookup(args []string) (*command, error) {
	for i := range sharedCommands {
		c := &sharedCommands[i]
		if c.name != strings.ToUpper(args[0]) {
			continue
		}
		if n := len(args) - 1; n < c.least || n > c.most {
			return nil, fmt.Errorf("ERR use: %s %s", c.name, c.usage)
		}
		return c, nil
	}
	return nil, fmt.Errorf("ERR unknown command '%.40s'", args[0])
}

var (
	errSyntax  = errors.New("ERR syntax error")
	errInteger = errors.New("ERR value is not an integer or out of range")
	errFloat   = errors.New("ERR value is not a valid float")
	errExpire  = errors.New("ERR invalid expire time")
)

func get(s *state, now int64, a []string) any {
	if v, ok := s.get(a[0], now); ok {
		return v.Bytes
	}
	return nil
}

func set(s *state, now int64, a []string) any {
	switch {
	case len(a) == 2:
		s.set(a[0], a[1], 0)
		return resp.Simple("OK")
	case len(a) == 4 && strings.EqualFold(a[2], "EX"):
		return setex(s, now, []string{a[0], a[3], a[1]})
	default:
		return errSyntax
	}
}

func setex(s *state, now int64, a []string) any {
	seconds, err := strconv.ParseInt(a[1], 10, 64)
	switch {
	case err != nil:
		return errInteger
	case seconds <= 0 || seconds > math.MaxInt64/2000:
		return errExpire
	}
	s.set(a[0], a[2], now+1000*seconds)
	return resp.Simple("OK")
}

func ttl(s *state, now int64, a []string) any {
	v, ok := s.get(a[0], now)
	switch {
	case !ok:
		return int64(-2)
	case v.Expires == 0:
		return int64(-1)
	}
	return (v.Expires - now + 999) / 1000
}

func del(s *state, now int64, a []string) any { return s.del(a, now) }

func zincrby(s *state, _ int64, a []string) any {
	by, err := strconv.ParseFloat(a[1], 64)
	if err != nil || math.IsNaN(by) || math.IsInf(by, 0) {
		return errFloat
	}
	return score(s.raise(a[0], a[2], by))
}

func zrevrange(s *state, _ int64, a []string) any {
	scores := len(a) == 4
	if scores && !strings.EqualFold(a[3], "WITHSCORES") {
		return errSyntax
	}
	from, err1 := strconv.Atoi(a[1])
	to, err2 := strconv.Atoi(a[2])
	if err1 != nil || err2 != nil {
		return errInteger
	}
	all := s.ranking(a[0])
	from, to = within(from, to, len(all))
	reply := []string{}
	for _, r := range all[from:to] {
		reply = append(reply, r.Member)
		if scores {
			reply = append(reply, score(r.Score))
		}
	}
	return reply
}

// within turns Redis' inclusive places, negative ones from the end, into a
// range of n.
func within(from, to, n int) (int, int) {
	if from < 0 {
		from = max(from+n, 0)
	}
	if to < 0 {
		to += n
	}
	to = min(to, n-1) + 1
	if from >= to {
		return 0, 0
	}
	return from, to
}

func score(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func hit(s *state, now int64, a []string) any {
	s.hit(a[0], now)
	return s.hits(a[0], 1, now)
}

func hits(s *state, now int64, a []string) any {
	seconds, err := strconv.ParseInt(a[1], 10, 64)
	if err != nil || seconds < 1 || seconds > hitsKept {
		return fmt.Errorf("ERR seconds are 1 to %d", hitsKept)
	}
	return s.hits(a[0], seconds, now)
}
