module otelgrpcpeer

go 1.26
