# Highwater. `make demo` shows what it is for, `make check` tests a change in a
# minute, `make test` runs every test.

GO ?= go
export GO

# Debian packages that tests need: a C compiler, binutils and script for the
# programs they watch and their cores, machines with cgroup v2, systemd and arm64,
# a browser, and containers that need no registry.
PACKAGES = gcc libc6-dev musl-tools libjemalloc2 libmimalloc2.0 binutils bsdutils gdb qemu-system-x86 qemu-system-arm e2fsprogs debootstrap chromium tmux podman runc conmon
# And those that make matrix alone needs: the keeper of a cluster of ClickHouse, with its Java, and libraries of C.
MATRIX_PACKAGES = libzookeeper-java default-jre-headless librocksdb-dev libxml2-dev pkg-config g++
# Prometheus's own parser is 140 MB of modules, and Helm's engine has many: their tests are make matrix's.
MODULES  = $(filter-out deploy/prometheus/ deploy/helm/,$(sort $(dir $(wildcard go.mod */go.mod */*/go.mod internal/*/*/go.mod))))

.PHONY: answers pictures mutations check containers gates interop matrix native-shares bench-compare build release kube demo demo-leak site test test-go vet lint bench bench-quick cases cases-truth corpus truth libraries fixes soak fuzz add-go setup clean kills

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/highwater ./cmd/highwater

# The main job on a small faulty server: it is killed under a limit, and the
# answer says why.
demo: build
	./examples/uploads/demo.sh

# A leak, the map that retains it, and the repair, proved: about three minutes.
demo-leak: build
	./examples/sessions/demo.sh

# The pictures of the docs, from runs of small programs: about two minutes, as root or with a delegated cgroup.
pictures:
	./docs/pictures/make.sh

# The inner loop: formatting, vet, and the tests that need nothing but the go command.
check: vet
	./.ci/check

# Static checks by staticcheck, errcheck, errorlint, govulncheck and go mod tidy, as
# tools/go.mod pins them, and generated files compared with their sources. The first time
# they need the module proxy, so make test does without them.
gates: vet
	./.ci/gates

# One row, class, column and flag after the other is broken in a copy, and a test named in
# tools/mutations/table.go has to fail for each: three minutes.
mutations:
	$(GO) run -C tools ./mutations

# Everything, from a bare clone. As root, Debian packages that the tests need
# are installed; elsewhere the tests that lack something say so.
test: setup lint test-go

# What make test leaves out: every release of Go, every way of linking, all guest machines,
# and the fleet with a server of S3, a cluster of ClickHouse and Prometheus.
# CI runs it where a change touches what it tests (.ci/run).
matrix:
	HIGHWATER_SETUP_MATRIX=1 ./.ci/setup $(MATRIX_PACKAGES)
	./.ci/matrix

setup:
	./.ci/setup $(PACKAGES)

vet:
	@wrong=$$(gofmt -l .); test -z "$$wrong" || { echo "gofmt is missing: gofmt -w $$wrong"; exit 1; }
	@for m in $(MODULES); do packages=$$(./.ci/packages $$m) && cgo=$$(./.ci/packages --cgo $$m) && (cd $$m && CGO_ENABLED=$$cgo $(GO) vet $$packages) || exit 1; done

# What is compiled for systems that nothing is run on here; tests run the program for linux/arm64, and make release builds all.
lint: vet
	CGO_ENABLED=0 $(GO) run -C tools ./portable -C $(CURDIR) darwin/arm64,windows/amd64,linux/arm64 ./cmd/...

test-go:
	./.ci/test

# What make bench measures beside itself: heaptrack, and bcc's memleak with the headers that it compiles against.
BENCH_PACKAGES = heaptrack bpfcc-tools linux-headers-amd64
bench: build
	HIGHWATER_SETUP_PACKAGES_ONLY=1 ./.ci/setup $(BENCH_PACKAGES)
	$(GO) run ./internal/aside/bench -o docs/benchmarks.md

# What changes most, in three minutes, printed: a hundred programs at rest, polls, readings, last
# breaths, deaths after a rest. Its watches are still settling, so that their figures are upper
# bounds.
bench-quick: build
	$(GO) run ./internal/aside/bench -quick -only "node,poll,reading,last breath,waking"

# The Go benchmarks of this tree beside those of another commit, a release for example,
# by benchstat: make bench-compare AGAINST=v0.3.0 PACKAGES_BENCHED=./internal/record/recording
AGAINST ?=
PACKAGES_BENCHED ?= ./internal/...
COUNT ?= 6
bench-compare:
	./.ci/bench-compare "$(AGAINST)" $(COUNT) $(PACKAGES_BENCHED)

# The five cases, faulty and repaired, each run three times: what highwater answers
# against what is true. About 30 minutes.
cases: build
	cd cases && $(GO) run ./judge -times 3 -o ../docs/cases.md

# What explain says to survive, run for real: 55 programs, each fix three times. About
# half an hour.
fixes: build
	cd cases && $(GO) run ./fixes

# Servers that nobody here wrote, at work for minutes: none may be accused.
soak:
	HIGHWATER_SOAK=5m $(GO) test ./internal/aside/thirdparty -run TestWellKnownServersAreReadAndHealthy -parallel 10 -count=1 -v

# Recordings of programs with known faults, repaired and innocent ones, drawn by
# chance, kept in the user's cache directory. What is there is kept: give a SEED of
# your own, and RUNS, for others. About 25 minutes.
SEED ?= 1
RUNS ?= 160
corpus: build
	cd corpus && $(GO) run ./run -seed $(SEED) -n $(RUNS)

# What highwater answers about these recordings, against what is true.
truth: build
	cd corpus && $(GO) run ./judge -wrong -o ../docs/truth-corpus.md

# What these recordings are answered with, for an editor to read.
answers: build
	cd corpus && $(GO) run ./answers -seed $(SEED) -o ../docs/answers.md

# What retains the heap, with twenty well-known modules: named as its source names it?
libraries:
	HIGHWATER_LIBRARIES=1 $(GO) test ./internal/measure/heapgraph -run TestFaultsWithWellKnownModules -count=1 -v

# Foreign bytes for longer than in the tests: recordings with changed cells, read by
# every command, and then every fuzz target for FUZZTIME. About an hour.
CELLS    = 5000
FUZZTIME = 90s
fuzz:
	HIGHWATER_CELLS=$(CELLS) $(GO) test ./internal/cli -count=1 -timeout 2h -run 'TestAnyCellOfARecordingMayBeChanged|TestAnAnswerFromACutOrFlippedRecording' -v
	HIGHWATER_CUTS=1 $(GO) test ./internal/record/recording -count=1 -timeout 1h -run TestARecordingCutAtEveryByteReadsToAPrefix
	./.ci/fuzz $(FUZZTIME)

cases-truth:
	cd cases && $(GO) run ./truth

# Ten servers at work, and a watcher of them that is killed KILLS times at random
# moments: none may be harmed. About 25 minutes.
KILLS = 1000
kills:
	HIGHWATER_KILLS=$(KILLS) $(GO) test ./internal/cli -count=1 -timeout 3h -run TestNoProgramIsHarmedByKillsOfItsWatcher -v

# Adds a release of Go, its layouts and its signatures: make add-go VERSION=go1.28.0,
# or go1.28.0+nogreenteagc with a GOEXPERIMENT. `go generate ./internal/eyes/gobin/...`
# reads all releases anew.
add-go:
	cd internal/eyes/gobin && $(GO) run ./layoutgen -add $(VERSION)
	cd internal/eyes/gobin/signature && $(GO) run ./siggen -add $(VERSION)

# All that is published of a version, in bin/release, made twice and compared, installed
# and run: see .ci/release. TARGETS=linux/amd64,linux/arm64 makes less. About ten minutes cold.
release:
	HIGHWATER_SETUP_PACKAGES_ONLY=1 ./.ci/setup rpm debootstrap podman runc
	./.ci/release $(TARGETS)

# The pages and manifests of docs/kubernetes against a real API server, which is built the first time
# with the parts of a node: about twenty minutes, and one to three then.
kube:
	HIGHWATER_SETUP_PACKAGES_ONLY=1 ./.ci/setup gcc libc6-dev libseccomp-dev pkg-config
	HIGHWATER_KUBERNETES=$$(kubectl-highwater/node/fetch.sh --node) && export HIGHWATER_KUBERNETES CGO_ENABLED=0 && \
	cd kubectl-highwater && $(GO) test -count=1 -v ./...

# What export writes, read by the types of those it is for: OpenTelemetry's, Pyroscope's, Parca's, and
# Perfetto's, which are Python's and come from a package index the first time. A real Parca and a real Pyroscope,
# which are built then, give a profile back: about half an hour the first time.
interop:
	test -x bin/interop/bin/python || { python3 -m venv bin/interop && bin/interop/bin/pip install -q --require-hashes -r interop/requirements.txt; }
	HIGHWATER_PARCA=$$(interop/fetch-parca.sh) && HIGHWATER_PYROSCOPE=$$(interop/fetch-pyroscope.sh) && export HIGHWATER_PARCA HIGHWATER_PYROSCOPE && \
	cd interop && HIGHWATER_PERFETTO_PYTHON=../bin/interop/bin/python $(GO) test -count=1 -v .

# Programs that end in six ways in containers of several kinds, under both versions of
# cgroups: what is said of each end, in docs/research/containers.md. About ten minutes.
containers: build
	HIGHWATER_MATRIX=1 HIGHWATER_CONTAINERS=$(CURDIR)/docs/research/containers.md $(GO) test ./internal/aside/incontainer -run TestEveryEndInEveryContainer -parallel 4 -count=1 -timeout 40m
	rm -rf bin/contained && mkdir -p bin/contained
	HIGHWATER_CONTAINER_CORPUS=$(CURDIR)/bin/contained $(GO) test ./internal/aside/incontainer -run 'TestGoroutinesThatFill|TestThePodsLimit|TestAnInitContainer|TestAKilledExecProbe|TestASidecarReads' -count=1
	cd corpus && $(GO) run ./judge -tool ../bin/highwater -dir ../bin/contained

# Native memory of programs built in every way, by sampled page faults and live probes: how much is found at the right
# line, in docs/research/native-builds.md. As root, ten minutes.
native-shares:
	HIGHWATER_MATRIX=1 HIGHWATER_SHARES=$(CURDIR)/docs/research/native-builds.md $(GO) test ./internal/record/watch -run TestThePageOfSharesPerBuild -parallel 1 -count=1 -timeout 40m -v

# The docs as a site, in bin/site, with search and links that are checked. It needs Python 3,
# and the first time a package index: nothing else here does.
site:
	test -x bin/site-tools/bin/mkdocs || { python3 -m venv bin/site-tools && bin/site-tools/bin/pip install -q --require-hashes -r site/requirements.txt; }
	NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 bin/site-tools/bin/mkdocs build -q -f site/mkdocs.yml

clean:
	rm -rf bin demo
