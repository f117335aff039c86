module xlsxrow

go 1.26
