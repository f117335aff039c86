module wsclose

go 1.26
