module sessionsctx

go 1.26

require github.com/gorilla/sessions v1.2.0

require github.com/gorilla/securecookie v1.1.1 // indirect
