// Lfufreq resolves account numbers to accounts through an LFU cache of a fixed size: 40,000
// accounts, about 30 MiB. A few accounts are asked for all the time.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"time"

	"github.com/bluele/gcache"
)

type account struct {
	Number  int
	History []int64
}

func load(key interface{}) (interface{}, error) {
	a := &account{Number: key.(int), History: make([]int64, 64)}
	for day := range a.History {
		a.History[day] = int64(day)
	}
	return a, nil
}

// directory answers for accounts out of a cache that cannot hold more than its size.
type directory struct{ accounts gcache.Cache }

func (d *directory) balance(number int) (int64, error) {
	v, err := d.accounts.Get(number)
	if err != nil {
		return 0, err
	}
	return v.(*account).History[number%64], nil
}

// statement is what is sent for one in some hundred questions; it is garbage afterwards.
func (d *directory) statement(number int) ([]byte, error) {
	v, err := d.accounts.Get(number)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (d *directory) serve(end time.Time) error {
	for n := 0; time.Now().Before(end); n++ {
		time.Sleep(time.Millisecond)
		for i := range 200 {
			if _, err := d.balance((n + i) % 4); err != nil {
				return err
			}
		}
		if _, err := d.statement(100 + n%30_000); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	d := &directory{accounts: gcache.New(40_000).LFU().LoaderFunc(load).Build()}
	end := time.Now().Add(*last)
	for n := range 40_000 {
		if _, err := d.balance(n); err != nil {
			log.Fatal(err)
		}
	}
	if err := d.serve(end); err != nil {
		log.Fatal(err)
	}
}
