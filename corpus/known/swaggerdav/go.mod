module swaggerdav

go 1.26
