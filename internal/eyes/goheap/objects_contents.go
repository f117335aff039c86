package goheap

// contents is an object's bytes, nil if it holds no pointers or the copy is gone.
func (o *Objects) contents(id uint32) []byte {
	b, _ := o.withHeader(id)
	return b
}

// values is contents from the malloc header on.
func (o *Objects) values(id uint32) []byte {
	b, header := o.withHeader(id)
	return b[min(header, uint64(len(b))):]
}

// withHeader is contents, and how many bytes of them are the malloc header.
func (o *Objects) withHeader(id uint32) (b []byte, header uint64) {
	if o.copy == nil {
		return nil, 0
	}
	i, at := o.locate(id)
	data, s := o.copy.heap.spans[i].CopyAt, &o.spans[i]
	if data < 0 {
		return nil, 0
	}
	off := data + o.within(s, id, at)
	return o.copy.data[off : off+int(s.elemsize) : off+int(s.elemsize)], s.header()
}

// roomFrom is how many bytes the object to has from p on; ok is false where p does not lead to it.
func (o *Objects) roomFrom(p uint64, to uint32) (room uint64, ok bool) {
	id, k, into, ok := o.find(p)
	if !ok || id != to {
		return 0, false
	}
	size := k.elemsize
	if size == 0 { // a large object, of which its span knows
		size = o.Size(id)
	}
	return size - min(into, size), true
}
