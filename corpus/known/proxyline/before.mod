module proxyline

go 1.26

require github.com/pires/go-proxyproto v0.4.2
