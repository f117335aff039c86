package watch

// Needs is what a watcher does besides reading programs, as far as that takes a
// capability of root's.
type Needs struct {
	Ends   bool     // it sends signals to programs of other users
	Writes bool     // it writes into the memory of programs of other users
	Faults bool     // it takes programs into a profile of page faults
	Into   []string // directories in which it makes or removes something
	// Starts says that it starts programs, which must get every capability that they
	// would have without it.
	Starts bool
}
