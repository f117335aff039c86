module wazerommap

go 1.26

require github.com/tetratelabs/wazero v1.2.1
