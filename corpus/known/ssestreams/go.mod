module ssestreams

go 1.26
