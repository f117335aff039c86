module redisdials

go 1.26
