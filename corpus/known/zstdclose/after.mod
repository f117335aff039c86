module zstdclose

go 1.26

require github.com/klauspost/compress v1.15.1
