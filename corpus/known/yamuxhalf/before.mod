module yamuxhalf

go 1.26

require github.com/hashicorp/yamux v0.0.0-20200609203250-aecfd211c9ce
