module memdbwatch

go 1.26

require github.com/hashicorp/go-memdb v1.3.3

require (
	github.com/hashicorp/go-immutable-radix v1.3.0 // indirect
	github.com/hashicorp/golang-lru v0.5.4 // indirect
)
