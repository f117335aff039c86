module xzdict

go 1.26
