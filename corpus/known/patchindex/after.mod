module patchindex

go 1.26

require github.com/evanphx/json-patch v4.5.0+incompatible

require github.com/pkg/errors v0.9.1 // indirect
