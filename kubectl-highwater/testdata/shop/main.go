// Shop is a service that keeps every order, 16 MiB of them a second.
package main

import "time"

type orders struct{ kept [][]byte }

func (o *orders) take() {
	order := make([]byte, 64<<10)
	for i := range order {
		order[i] = 1
	}
	o.kept = append(o.kept, order)
}

func main() {
	var o orders
	for range time.Tick(4 * time.Millisecond) {
		o.take()
	}
}
