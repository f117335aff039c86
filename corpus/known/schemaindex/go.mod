module schemaindex

go 1.26
