module sshrekey

go 1.26
