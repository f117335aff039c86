module antspool

go 1.26
