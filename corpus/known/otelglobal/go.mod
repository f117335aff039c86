module otelglobal

go 1.26
