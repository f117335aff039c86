module corscommas

go 1.26
