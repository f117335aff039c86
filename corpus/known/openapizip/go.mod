module openapizip

go 1.26
