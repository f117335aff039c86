module patchindex

go 1.26
