module inotifygone

go 1.26

require k8s.io/utils v0.0.0-20211116205334-6203023598ed
