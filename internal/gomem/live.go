package gomem

type marker struct{}

func (mk *marker) attach(r *Runtime, find *resolver) error { return nil }
