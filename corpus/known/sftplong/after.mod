module sftplong

go 1.26

require github.com/pkg/sftp v1.11.0

require (
	github.com/kr/fs v0.1.0 // indirect
	github.com/pkg/errors v0.8.1 // indirect
	golang.org/x/crypto v0.0.0-20190820162420-60c769a6c586 // indirect
	golang.org/x/sys v0.0.0-20190412213103-97732733099d // indirect
)
