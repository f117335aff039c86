module oauthdots

go 1.26

require golang.org/x/oauth2 v0.27.0
