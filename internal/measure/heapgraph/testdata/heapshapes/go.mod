module heapshapes

go 1.20
