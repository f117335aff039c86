module sshrekey

go 1.26

require golang.org/x/crypto v0.34.0

require golang.org/x/sys v0.30.0 // indirect
