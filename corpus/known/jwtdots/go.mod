module jwtdots

go 1.26
