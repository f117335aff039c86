module wazerommap

go 1.26
