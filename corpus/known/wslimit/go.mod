module wslimit

go 1.26
