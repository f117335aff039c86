module inotifygone

go 1.26

require k8s.io/utils v0.0.0-20210930125809-cb0fa318a74b
