module wsclose

go 1.26

require nhooyr.io/websocket v1.8.6

require github.com/klauspost/compress v1.10.3 // indirect
