module oldprog

go 1.20
