# Genkan. `make` lists the targets. Needs Go and, for the race detector, a C
# compiler; the tools are pinned in tools/go.mod and built on first use.
# Works with GNU Make 3.81.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
PKGS     ?= ./...
ARGS     ?=
FUZZTIME ?= 30s

VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# -buildvcs=false: the version says it already, and a checkout that another
# user owns, as in containers, would fail the build.
BUILD   = $(GO) build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)'

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# The product is this module; the harnesses that measure it are modules beside it.
HARNESSES := bench conformance
GO_DIRS    = $(wildcard cmd internal $(HARNESSES))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: ui test-ui check-ui bench-ui screenshots help run build install tour eval-search test check lint fmt golden generate bench crash conformance peers e2e-n8n fuzz clean \
	check-fmt check-vet check-tidy check-cross check-noui check-generated check-harnesses

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and start the gateway: make run ARGS='--port 4000'
	@exec bin/genkan serve $(ARGS)

build: ## Build bin/genkan
	@mkdir -p bin
	@$(BUILD) -o bin/genkan ./cmd/genkan

# PREFIX=/usr/local puts it elsewhere.
PREFIX ?= $(HOME)/.local
install: build ## Put genkan into ~/.local/bin
	@mkdir -p $(PREFIX)/bin
	@install -m 0755 bin/genkan $(PREFIX)/bin/genkan
	@echo "$(PREFIX)/bin/genkan"

# The runner is gotestsum when it can be built and go test otherwise; both print
# Go's own line for each package. The race detector is dropped, loudly, only
# where it cannot be built. Most tests wait for processes, so more of them run at
# once than there are cores. SQLite, translated from C, is compiled without the
# race detector, which doubles its time and looks for mistakes that are not ours.
# So are libraries that compute and share nothing, unless RACED=all. The linker keeps one
# instance of a generic function. Theirs of sync.Map would hide what orders the
# goroutines of others, so encoding/json, which uses it, is compiled without inlining.
# Nor may atomics of such a library order accesses to its maps or slices: the runtime
# reports those all the same. Goja's are one flag that interrupts a script. Garbage is
# collected less often; script workers and the servers behind genkan do not inherit that.
# Left alone, the detector also waits for a second before each program ends. Vet is
# left to check-vet. TESTFLAGS: make test TESTFLAGS='-run TestX -v'.
# GENKAN_TESTS=full runs the counts that find rare mistakes; make check adds RACED=all.
# Full counts load a machine so much that fewer packages run at once.
RACED   ?=
RACE     = -race $(UNRACED:%=-gcflags=%=-race=false) $(if $(RACED),,'-gcflags=encoding/json=-race=false -l')
UNRACED  = modernc.org/... $(if $(RACED),,compress/... crypto/internal/fips140/... \
	go/ast go/parser go/scanner hash/... regexp/... strconv unicode/... golang.org/x/crypto/... golang.org/x/text/... \
	github.com/antlr4-go/... github.com/dop251/... github.com/evanw/esbuild/internal/js_... github.com/go-sourcemap/... \
	github.com/goccy/... github.com/google/go-cmp/... github.com/santhosh-tekuri/... github.com/tiktoken-go/...)
PACKAGES = $(if $(filter full,$(GENKAN_TESTS)),2,3)
test: ## Run all tests with the race detector, and some of the web UI where there is a browser (all with GENKAN_TESTS=full)
	@status=0; $(MAKE) --no-print-directory test-go || status=1; \
	$(MAKE) --no-print-directory test-ui $(if $(filter full,$(GENKAN_TESTS)),,ARGS='--grep @quick --reporter dot') || status=1; exit $$status

test-go:
	@set -- $(RACE); export GORACE=atexit_sleep_ms=10 $(if $(RACED),,GOGC=$${GOGC:-400}); \
	if ! $(GO) build -race runtime/cgo >/dev/null 2>&1; then \
		set --; \
		echo '************************************************************************'; \
		echo '** NO RACE DETECTOR: it needs cgo and a C compiler (gcc or clang).    **'; \
		echo '** Running the tests without -race: data races will not be found.     **'; \
		echo '************************************************************************'; \
	fi; \
	if $(TOOL) gotestsum --version >/dev/null 2>&1; then \
		$(TOOL) gotestsum --format standard-quiet -- "$$@" -vet=off -p $(PACKAGES) -parallel 4 $(TESTFLAGS) $(PKGS); \
	else \
		echo 'gotestsum cannot be built here; running go test.'; \
		$(GO) test "$$@" -vet=off -p $(PACKAGES) -parallel 4 $(TESTFLAGS) $(PKGS); \
	fi

# The pages of the web UI. Their build is committed, so that Go alone builds Genkan;
# these targets need Node.js 20, and the tests in a browser need Chromium.
# ARGS: make test-ui ARGS='calls -g folds'.
# Chromium without a window of its own (Debian: chromium-headless-shell) needs two thirds of
# the time of the whole browser, and is preferred.
CHROMIUM ?= $(shell command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome)
NPM       = npm --prefix ui --no-audit --no-fund

ui/node_modules: ui/package-lock.json
	@$(NPM) install --silent && touch $@

ui: ui/node_modules ## Build the web UI into internal/web/dist
	@$(NPM) run --silent build

test-ui: ## Test the web UI: units, then the real binary in Chromium
	@skip() { echo "** The web UI was not tested in a browser: $$1 **"; exit 0; }; \
	command -v npm >/dev/null || skip 'Node.js is not installed.'; \
	[ -d ui/node_modules ] || [ -z '$(findstring @quick,$(ARGS))' ] || skip 'make test-ui installs what that needs.'; \
	$(MAKE) --silent --no-print-directory ui/node_modules || skip 'npm could not install what that needs.'; \
	$(NPM) test --silent || exit 1; \
	[ -n "$(CHROMIUM)" ] || skip 'Chromium is not installed.'; \
	cd ui && CHROMIUM=$(CHROMIUM) npx playwright test $(ARGS)

check-ui: ## The committed build of the web UI is a fresh one
	@if ! command -v npm >/dev/null; then echo 'Node.js is not installed: the build of the web UI is not compared.'; exit 0; fi; \
	$(MAKE) --no-print-directory ui/node_modules && $(NPM) run --silent check && $(NPM) run --silent build && \
	if [ -n "$$(git status --porcelain internal/web/dist)" ]; then \
		echo 'internal/web/dist is not what ui/ builds; it is fresh now: commit it.' >&2; git status --short internal/web/dist >&2; exit 1; \
	fi

screenshots: ui/node_modules ## Take the pictures of docs/images from the running program
	@cd ui && CHROMIUM=$(CHROMIUM) npx playwright test --config screenshots.config.ts

# PAGES='calls|tools' measures some pages, RUNS=1 each once.
bench-ui: ui/node_modules ## Measure the web UI with much data; fail where it is too slow
	@cd ui && CHROMIUM=$(CHROMIUM) npx playwright test --config large.config.ts

# tree prints the id of the working tree as git would commit it, and writes
# nothing but objects: the index and the files stay as they are.
tree = index=$$(mktemp -u) && GIT_INDEX_FILE=$$index git add -A . 2>/dev/null && \
	GIT_INDEX_FILE=$$index git write-tree; rm -f "$$index"

check: ## All that a change must pass: format, vet, lint, modules, platforms, generated files, tests
	@before=$$($(tree)); \
	for step in check-fmt check-vet lint check-tidy check-cross check-noui check-generated check-ui test check-harnesses; do \
		echo "==> $$step"; \
		GENKAN_TESTS=full $(MAKE) --no-print-directory RACED=all $$step || { echo "==> $$step failed" >&2; exit 1; }; \
	done; \
	after=$$($(tree)); \
	if [ "$$before" != "$$after" ]; then \
		echo '==> the checks changed files (goldens?):' >&2; \
		git diff --stat "$$before" "$$after" >&2; exit 1; \
	fi; \
	echo '==> all checks passed'

check-fmt: ## Show what gofumpt would change
	@if ! out=$$($(TOOL) gofumpt -d $(GO_DIRS)) || [ -n "$$out" ]; then \
		printf "%s\n" "$$out"; echo 'Not formatted: run make fmt.' >&2; exit 1; \
	fi

check-vet: ## go vet
	@$(GO) vet $(PKGS)
	@for m in $(HARNESSES); do $(GO) -C $$m vet ./... || exit 1; done

check-harnesses: ## The tests of the harnesses
	@for m in $(HARNESSES); do $(GO) -C $$m test ./... || exit 1; done

lint: ## golangci-lint (the first build takes a minute or two)
	@$(TOOL) golangci-lint run $(PKGS)

check-tidy: ## All go.mod files are tidy
	@$(GO) mod tidy -diff
	@cd tools && $(GO) mod tidy -diff
	@for m in $(HARNESSES) conformance/mcpgo bench/csqlite; do $(GO) -C $$m mod tidy -diff || exit 1; done

check-cross: ## Compile for every platform, without cgo
	@for p in $(PLATFORMS); do \
		echo "    $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -buildvcs=false $(PKGS) || exit 1; \
	done

check-noui: ## Compile, vet and test the build without the web UI
	@$(GO) build -buildvcs=false -tags noui $(PKGS)
	@$(GO) vet -tags noui ./internal/web ./internal/app ./internal/cli
	@$(GO) test -tags noui ./internal/web

check-generated: ## Generated files are up to date
	@before=$$($(tree)); \
	[ -n "$$before" ] || { echo 'This check needs a git checkout.' >&2; exit 1; }; \
	$(MAKE) --no-print-directory generate || exit 1; \
	after=$$($(tree)); \
	if [ "$$before" != "$$after" ]; then \
		echo 'Generated files were out of date and are now fresh; commit them:' >&2; \
		git diff --stat "$$before" "$$after" >&2; exit 1; \
	fi

generate: ## Rewrite generated files
	@$(GO) generate $(PKGS)

golden: ## Rewrite a package's golden files: make golden PKGS=./internal/mcpserver
	@[ '$(PKGS)' != './...' ] || { echo "Name the package: make golden PKGS=./internal/mcpserver" >&2; exit 1; }
	@$(GO) test -count=1 $(PKGS) -update

fmt: ## Format with gofumpt
	@$(TOOL) gofumpt -l -w $(GO_DIRS)

bench: ## Run the benchmark harness: make bench ARGS=...
	@$(GO) build -C bench -buildvcs=false -o ../bin/bench . && bin/bench $(ARGS)

# Each run does other things at other moments; SEED repeats what was written.
CYCLES ?= 1000
SEED   ?= $(shell date +%s)
crash: ## Kill -9 processes that write to the knowledge base and the call history, CYCLES (1000) times
	@$(GO) test -count=1 -v -timeout 60m ./internal/kb/crashtest -crash.cycles=$(CYCLES) -crash.seed=$(SEED)
	@$(GO) test -count=1 -v -timeout 60m -run TestKilled ./internal/history -crash.cycles=$(CYCLES)

eval-search: ## Measure the search: make eval-search TOOLS=tools.jsonl QUERIES=queries.jsonl
	@$(GO) run ./internal/evalsearch -tools '$(TOOLS)' -queries '$(QUERIES)' $(ARGS)

# Needs npx and the network: the servers come from npm.
tour: ## Go through the first five minutes with real servers and write docs/first-five-minutes.md
	@$(GO) test ./internal/tour -count=1 -run TestTour -args -write

# Needs npm; the suite and, where the machine's is older, Node 24 are installed
# into the user's cache.
conformance: ## Run the public MCP suite directly and through genkan: make conformance ARGS=-write
	@$(GO) build -C conformance -buildvcs=false -o ../bin/conformance . && bin/conformance $(ARGS)

peers: ## Run real clients and servers through genkan: make peers ARGS=-write
	@$(GO) build -C conformance -buildvcs=false -o ../bin/conformance . && bin/conformance peers $(ARGS)

# Needs npm, a C++ compiler and Python to install n8n into the user's cache, once.
# N8N_URL and N8N_API_KEY name another n8n, which is only read unless E2E_WRITE=1.
e2e-n8n: ## Run the tests that need a real n8n: make e2e-n8n ARGS=-write
	@GENKAN_E2E_N8N=1 $(GO) test -count=1 -v -timeout 60m -p 1 -run RealN8n ./internal/testkit/n8n ./internal/n8n ./internal/app $(if $(ARGS),-args $(ARGS))

fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@targets=$$(grep -rE --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' $(GO_DIRS) | sort); \
	[ -n "$$targets" ] || { echo 'There are no fuzz targets.'; exit 0; }; \
	n=$$(echo "$$targets" | wc -l | tr -d ' '); i=0; \
	echo "$$targets" | { while IFS=: read -r file func; do \
		i=$$((i+1)); name=$${func#func }; \
		echo "==> $$i/$$n $$name in $$(dirname $$file) for $(FUZZTIME)"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file) </dev/null || exit 1; \
	done; }

clean: ## Remove what was built
	@rm -rf bin
