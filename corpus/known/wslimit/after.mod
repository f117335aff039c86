module wslimit

go 1.26

require github.com/gorilla/websocket v1.4.1
