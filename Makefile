# Highwater. `make demo` shows what it is for, `make test` runs every test.

GO      ?= go
PACKAGES = gcc libc6-dev binutils curl
GUEST    = qemu-system-x86
SKIPS   := $(shell mktemp -u)

.PHONY: build demo test test-go lint bench setup clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/highwater ./cmd/highwater

# The main job on a small faulty server: it is killed under a limit, and the
# answer says why.
demo: build
	./examples/uploads/demo.sh

# Everything, from a bare clone. As root, Debian packages that the tests need
# are installed; elsewhere the tests that lack something say so.
test: setup lint test-go

setup:
	./.ci/setup $(PACKAGES) $(GUEST)

lint:
	$(GO) vet ./...
	@test -z "$$(gofmt -l cmd internal)" || { gofmt -l cmd internal; echo "run gofmt"; exit 1; }
	cd internal/testprog && $(GO) vet ./...
	GOOS=darwin $(GO) vet ./cmd/...
	CGO_ENABLED=0 GOARCH=arm64 $(GO) build -o /dev/null ./cmd/highwater

test-go:
	HIGHWATER_SKIPS=$(SKIPS) $(GO) test -timeout 20m ./...
	@echo "skipped, and why:"; sort $(SKIPS) 2>/dev/null | uniq -c || true; rm -f $(SKIPS)

bench: build
	$(GO) run ./internal/bench -o docs/benchmarks.md

clean:
	rm -rf bin demo
