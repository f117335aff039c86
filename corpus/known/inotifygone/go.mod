module inotifygone

go 1.26
