module sessionsctx

go 1.26
