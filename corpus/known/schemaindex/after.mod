module schemaindex

go 1.26

require github.com/gorilla/schema v1.4.1
