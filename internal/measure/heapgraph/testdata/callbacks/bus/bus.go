// Package bus calls its subscribers from goroutines of its own.
package bus

// Conn is a connection that subscriptions share.
type Conn struct {
	closed func()
	subs   map[int]*subscription
}

type subscription struct {
	conn *Conn
	call func([]byte)
	wait chan []byte
}

// Connect opens one; closed is called in the end.
func Connect(closed func()) *Conn { return &Conn{closed, make(map[int]*subscription)} }

// Subscribe has call called for each message.
func (c *Conn) Subscribe(call func([]byte)) {
	s := &subscription{c, call, make(chan []byte, 1)}
	c.subs[len(c.subs)] = s
	go c.deliver(s)
}

// Listen has call called for each message, too.
func (c *Conn) Listen(call func([]byte)) {
	s := &subscription{c, call, make(chan []byte, 1)}
	c.subs[len(c.subs)] = s
	go c.deliver(s)
}

func (c *Conn) deliver(s *subscription) {
	for m := range s.wait {
		s.call(m)
	}
	c.closed()
}

// Poll has goroutines that call nobody.
func (c *Conn) Poll(n int) {
	for range make([]int, n) {
		go c.poll(make(chan int))
	}
}

func (c *Conn) poll(wait chan int) {
	<-wait
	c.closed()
}
