module yamuxhalf

go 1.26

require github.com/hashicorp/yamux v0.0.0-20210316155119-a95892c5f864
