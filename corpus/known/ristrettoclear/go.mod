module ristrettoclear

go 1.26
