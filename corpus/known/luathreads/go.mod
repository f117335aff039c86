module luathreads

go 1.26
