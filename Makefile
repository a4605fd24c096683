# What people type. CI runs the same commands: see .ci/run.

GO ?= go
FUZZTIME ?= 10s
# 0/5 to 4/5 are a fifth of the fuzzers each; 0/1 are all.
FUZZPART ?= 0/1
# Of the packages whose tests take minutes under the race detector, 0/3 to 2/3 are one
# each; 0/1 are all.
RACEPART ?= 0/1
# The packages whose work `make linear` counts: what a run goes through for each
# state, step and host. COUNTED=brine/... counts in all, and takes a minute more.
COUNTED ?= brine,brine/cmd,brine/cmd/app,brine/cmd/session,brine/cmd/output,brine/cmd/runner,brine/cmd/target,brine/cmd/call,brine/cmd/orchestrate,brine/cmd/plan,brine/cmd/run,brine/cmd/ssh,brine/cmd/internal/...,brine/runner/...,brine/internal/fleet/...,brine/internal/view/plan,brine/sshexec/...,brine/states/salt

.PHONY: build bytes docs generate home machines test-machines test test-quick test-short race fuzz lint linear mutants bench bench-all bench-machines bench-ssh bench-links bench-scale bench-soak bench-ui soak release test-release slim api-client ui-pictures

build: ## the binary for this machine, static, with the agent for its platform and the documentation in it
	GO="$(GO)" sh .ci/build brine

slim: ## a slim agent, and the test that it lacks nothing and is small
	d=$$(mktemp -d) && p=$$($(GO) env GOHOSTOS)-$$($(GO) env GOHOSTARCH) && $(GO) run . agent build --source . --agent-dir "$$d" $$p && ls -l "$$d" && BRINE_TEST_SLIM="$$d/brine-$$p" $(GO) test -count=1 -v -run TestSlimAgent ./e2e && rm -r "$$d"

bytes: ## what a slim agent consists of: sections, and code, tables and names by package
	d=$$(mktemp -d) && p=$$($(GO) env GOHOSTOS)-$$($(GO) env GOHOSTARCH) && $(GO) run . agent build --source . --agent-dir "$$d" $$p && $(GO) run ./bench/bytes "$$d/brine-$$p" && rm -r "$$d"

test: ## all tests; installs what they need on Debian as root
	sh .ci/needs
	sh .ci/gotest ./... -timeout 60m

test-short: ## the tests that need nothing but Go: installs nothing, starts no servers, machines or browsers
	sh .ci/gotest ./... -short -timeout 60m

test-quick: ## the quickest tests, while you work: of the functions and what they are built on; needs nothing but Go
	$(GO) test -short -vet=off ./cmd/assembly ./cmd/reference ./cmd/internal/... ./internal/core/... ./runner/... ./states/... ./modules/... && $(GO) test -short -vet=off -run 'TestImports|TestNoCycles|TestPlaces|TestPlainEnglish|TestNothingResolvesFirst' ./e2e

generate: ## the files that are made of the code: docs/reference, tables of pages, templates of the pages of brine ui
	$(GO) generate ./cmd/reference ./internal/view/ui

docs: ## the documentation as a site in dist/site; a link that leads nowhere fails
	mkdir -p dist && rm -rf dist/site
	$(GO) run -C .ci/site . -pictures -o "$(CURDIR)/dist/docs.xz"
	$(GO) run . docs --from dist/docs.xz --dir dist/site

machines: ## the images of the throw-away machines that tests boot (root on Debian; 2.5 GB)
	sh .ci/machines

test-machines: machines ## every recording of a whole machine, on it and over SSH; CASES is a glob such as 'm-cron-*'
	BRINE_TEST_REQUIRE=machines BRINE_MACHINE_CASES='$(or $(CASES),m-*)' $(GO) test -count=1 -v -timeout 60m -run TestMachine ./e2e

race: ## the tests of what runs in parallel, under the race detector (needs gcc); without those that measure millions of minions
	CGO_ENABLED=1 sh .ci/race $(RACEPART)

fuzz: ## every fuzzer for FUZZTIME
	sh .ci/fuzz $(FUZZTIME) $(FUZZPART)

lint: ## formatting, vet, golangci-lint, functions that nothing calls, tidy modules, types on darwin and freebsd
	sh .ci/lint

mutants: ## removes each guard of docs/security.md in turn: a test has to fail (ONLY has a part of a name)
	$(GO) run ./bench/mutants -only '$(ONLY)'

linear: ## counts what a run does for trees and fleets of three sizes: nothing may grow faster than they do
	d=$$(mktemp -d) && trap 'rm -r "$$d"' EXIT && $(GO) build -trimpath -cover -covermode=atomic -coverpkg=$(COUNTED) -o "$$d/brine" . && $(GO) build -trimpath -o "$$d/hosts" ./bench/hosts && BRINE_TEST_LINEAR="$$d" $(GO) test -count=1 -timeout 30m -run TestLinear ./e2e

bench: ## benchmarks beside the code
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-all: ## the tables of docs/scale.md in one run: on this machine, over a real sshd, over simulated fleets; beside the peers that are installed
	$(GO) run ./bench/all

bench-ssh: ## brine and its peers over a real sshd on this machine: see docs/scale.md
	bench/ssh -p
	GO="$(GO)" sh .ci/links

bench-links: ## a small sample of what bench-ssh measures over slow and stalling links
	GO="$(GO)" sh .ci/links -cold 1,3 -slow 3:40:20 -relay 3:40:20 -stall 2 -many 0

bench-machines: machines ## runs with nothing to do on a throw-away machine
	$(GO) test -run '^$$' -bench Machines -benchtime 20x ./e2e

bench-scale: ## orchestrations over simulated fleets of up to 10,000 targets
	bench/scale

bench-soak: ## an hour of runs and pages: what grows in a worker, a server of pages and kept connections
	bench/soak

bench-ui: ## pages of a history of 5,000 executions, and that of a run on 1,000 hosts in Chromium: see docs/ui.md
	d=$$(mktemp -d) && export BRINE_BENCH_HISTORY=$$d/history.db && $(GO) test -count=1 -timeout 60m -run '^$$' -bench 'Search/list$$' ./internal/fleet/history && $(GO) test -count=1 -v -run TestUIHistoryBench ./e2e; rm -r "$$d"
	BRINE_BENCH_UI=20s BRINE_TEST_REQUIRE=chromium $(GO) test -count=1 -v -run TestRunInBrowser ./internal/view/ui

api-client: ## the client of the API that a test runs, generated again from docs/openapi.json (npm)
	sh e2e/testdata/apiclient/make

ui-pictures: ## the pictures of docs/ui.md, made again
	BRINE_UI_PICTURES=$(CURDIR)/docs/ui BRINE_TEST_REQUIRE=chromium $(GO) test -count=1 -run TestUIPictures ./e2e

soak: ## full counts: fuzzers for five minutes each, the race run five times, 50 chaos runs, returners and jobs under load
	sh .ci/fuzz 300s
	CGO_ENABLED=1 $(GO) test -race -count=5 -timeout 120m -skip TestChaos ./...
	BRINE_CHAOS_ROUNDS=50 $(GO) test -count=1 -timeout 120m -run TestChaos ./e2e
	BRINE_SOAK=1 BRINE_TEST_KILLS=1000 $(GO) test -count=1 -timeout 120m -p 1 -v -run 'TestLoad|Killed|Many|MySQL|MariaDB|Postgres|Pgjsonb|SQLite|Redis|Memcache|Etcd|TestUIConsole' ./e2e ./internal/fleet/jobs ./internal/core/event ./internal/fleet/returner/...
	BRINE_SSHCONF_SEEDS=1000 BRINE_TEST_KILLS=200 $(GO) test -count=1 -timeout 60m -p 1 ./internal/core/sshconf ./internal/core/python
	BRINE_SOAK=1 $(GO) test -count=1 -timeout 30m -v -p 1 -run 'TestHostileFleet|TestHostileMachines' ./sshexec/link ./e2e
	sh .ci/release-test

release: ## a release in DIST: archives, packages and an image for HOSTS, the agents of AGENTS (see .ci/release)
	sh .ci/release "$(HOSTS)" "$(AGENTS)" "$(DIST)"

home: ## where the project is hosted: URL=https://host/path MAIL=you@host go into README, packages and the module path
	sh .ci/home '$(URL)' '$(MAIL)'

test-release: ## two releases of this commit are the same, and their packages work in a clean Debian (root)
	sh .ci/release-test
