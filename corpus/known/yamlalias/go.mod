module yamlalias

go 1.26
