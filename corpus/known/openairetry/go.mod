module openairetry

go 1.26
