// Userindex is a directory of users with an LRU cache by number and an index by
// mail address beside it. What the cache evicts is to leave the index as well, but
// the address is looked for as the user writes it, and was put there in lower case.
// Repaired, it is folded in both places.
package main

import (
	"encoding/base64"
	"fmt"
	"log"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type user struct {
	number  int
	mail    string
	picture []byte
}

type directory struct {
	mu       sync.RWMutex
	byNumber *lru.Cache[int, *user]
	byMail   map[string]*user
	fold     func(mail string) string // of what is evicted

	groups map[string][]int // who is in which, all the time
}

func main() {
	f := frame.Parse()
	d := &directory{byMail: map[string]*user{}, groups: memberships(), fold: func(mail string) string { return mail }}
	if f.Repaired {
		d.fold = strings.ToLower
	}
	cache, err := lru.NewWithEvict(400, d.evicted)
	if err != nil {
		log.Fatal(err)
	}
	d.byNumber = cache
	records := ldap{picture: base64.StdEncoding.EncodeToString(frame.Touch(make([]byte, f.Unit)))}
	f.Each(func(i int) {
		if _, err := d.user(i, records); err != nil {
			log.Fatal(err)
		}
		if i%16 == 0 {
			d.find(fmt.Sprintf("ada.lovelace%d@EXAMPLE.org", i))
		}
	})
	f.Stay()
}

// memberships is 2,000 groups of 1,500.
func memberships() map[string][]int {
	groups := make(map[string][]int)
	for g := range 2000 {
		members := make([]int, 1500)
		for i := range members {
			members[i] = g*13 + i*7
		}
		groups[fmt.Sprintf("group-%04d", g)] = members
	}
	return groups
}

// ldap is where users come from.
type ldap struct{ picture string }

func (l ldap) record(number int) (mail, picture string) {
	return fmt.Sprintf("Ada.Lovelace%d@Example.org", number), l.picture
}

func (d *directory) user(number int, from ldap) (*user, error) {
	if u, ok := d.byNumber.Get(number); ok {
		return u, nil
	}
	mail, text := from.record(number)
	picture, err := base64.StdEncoding.DecodeString(text) // truth: allocates
	if err != nil {
		return nil, fmt.Errorf("picture of %s: %w", mail, err)
	}
	u := &user{number, mail, picture}
	d.mu.Lock()
	d.byMail[strings.ToLower(mail)] = u // truth: keeps
	d.mu.Unlock()
	d.byNumber.Add(number, u)
	return u, nil
}

// find gives the user with a mail address that is in the cache.
func (d *directory) find(mail string) *user {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byMail[strings.ToLower(mail)]
}

func (d *directory) evicted(_ int, u *user) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byMail, d.fold(u.mail)) // truth: forgets
}
