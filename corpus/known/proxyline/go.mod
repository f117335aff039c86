module proxyline

go 1.26
