module opacache

go 1.26
