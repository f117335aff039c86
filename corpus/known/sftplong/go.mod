module sftplong

go 1.26
