module oauthdots

go 1.26
