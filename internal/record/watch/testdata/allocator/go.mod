module allocator

go 1.20
