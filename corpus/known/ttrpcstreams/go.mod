module ttrpcstreams

go 1.26
