module dnsconns

go 1.26
