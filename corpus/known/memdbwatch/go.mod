module memdbwatch

go 1.26
