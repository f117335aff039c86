module helmchart

go 1.26
