module example.com/uploads

go 1.24
