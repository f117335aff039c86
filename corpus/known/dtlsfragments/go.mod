module dtlsfragments

go 1.26
