module zstdclose

go 1.26
