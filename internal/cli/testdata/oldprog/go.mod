module example.com/oldprog

go 1.19
