// Package order has orders that are made of their events.
package order

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Event is something that happened to an order.
type Event struct {
	Kind string          `json:"kind"`
	Note json.RawMessage `json:"note"`
	Step int             `json:"step"`
}

// Order is what its events made of it.
type Order struct {
	Number  int
	State   string
	step    int
	changes []*Event // not saved yet
}

// Handle decides on a command, which is a JSON event without a step.
func (o *Order) Handle(command []byte) error {
	e := new(Event)
	if err := json.Unmarshal(command, e); err != nil { // truth: allocates
		return fmt.Errorf("order %d: %w", o.Number, err)
	}
	if e.Kind == "" {
		return errors.New("a command has no kind")
	}
	e.Step = o.step + 1
	o.apply(e)
	o.changes = append(o.changes, e) // truth: keeps
	return nil
}

func (o *Order) apply(e *Event) {
	o.step = e.Step
	o.State = map[string]string{"pay": "paid", "pack": "packed", "send": "sent", "return": "returned"}[e.Kind]
}

// Store writes events somewhere.
type Store interface {
	Append(number int, events []*Event) error
}

// Repository has the orders that are open.
type Repository struct {
	To     Store
	Commit bool // what is saved is no change any more
	open   map[int]*Order
}

// Get gives an order, a new one where it is not open.
func (r *Repository) Get(number int) *Order {
	if r.open == nil {
		r.open = map[int]*Order{}
	}
	o := r.open[number]
	if o == nil {
		o = &Order{Number: number}
		r.open[number] = o
	}
	return o
}

// Save appends the events of o that the store does not have.
func (r *Repository) Save(o *Order) error {
	first := len(o.changes)
	for first > 0 && o.changes[first-1].Step > o.step-1 {
		first--
	}
	if err := r.To.Append(o.Number, o.changes[first:]); err != nil {
		return fmt.Errorf("save order %d: %w", o.Number, err)
	}
	if r.Commit {
		o.changes = nil
	}
	return nil
}
