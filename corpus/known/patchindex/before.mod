module patchindex

go 1.26

require github.com/evanphx/json-patch v4.1.0+incompatible
