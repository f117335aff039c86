module otelagent

go 1.26
