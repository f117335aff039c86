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
