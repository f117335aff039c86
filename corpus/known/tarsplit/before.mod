module tarsplit

go 1.26

require github.com/vbatts/tar-split v0.10.1
