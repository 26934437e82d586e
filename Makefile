# Everything a person or CI runs here. Each target installs what it needs first (tools/setup.sh).

.DEFAULT_GOAL := help
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

SETUP := tools/setup.sh
WITH_NODE := tools/with-node.sh
VITEST := NO_COLOR=1 $(WITH_NODE) node_modules/.bin/vitest run
CHECK := $(WITH_NODE) tools/check/node_modules/.bin
export OXLINT_TSGOLINT_PATH := $(CURDIR)/tools/check/node_modules/.bin/tsgolint

DATA ?= ../shared/data
# Of the processor. Sums come out differently with another number, and so does the model.
THREADS ?= 1
TRAIN = $(WITH_NODE) env PYTHONPATH=inference/training OMP_NUM_THREADS=$(THREADS) .tools/training/bin/python
TRAINED = --data $(DATA) $(if $(SMOKE),--smoke --out .tools/smoke-model)

# $(call quietly,COMMAND): shows what a command printed only when it fails.
quietly = out=$$($(1) 2>&1) || { printf '%s\n' "$$out"; exit 1; }

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z%<>-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  make test-<folder>    One folder of test/: $(notdir $(patsubst %/,%,$(wildcard test/*/)))"

.PHONY: run
run: packages ## Start the gateway with nothing else installed; prints a key and a curl line
	@exec $(WITH_NODE) node --max-semi-space-size=32 src/start.js

.PHONY: gwctl
gwctl: packages ## The command line: make gwctl ARGS="audit verify"
	@exec $(WITH_NODE) node src/cli/gwctl.ts $(ARGS)

.PHONY: bridge
bridge: packages ## The bridge to an MCP server over standard input: make bridge ARGS="COMMAND ARGUMENT…" (GW_BRIDGE_TOKEN)
	@exec $(WITH_NODE) node bridge/main.ts $(ARGS)

.PHONY: debug
debug: packages ## Start the gateway with the inspector on port 9229; FILE=…: one test, stopped at its first line
ifdef FILE
	@$(VITEST) --inspect-brk --no-file-parallelism --test-timeout=0 $(FILE)
else
	@exec $(WITH_NODE) node --inspect src/start.js
endif

.PHONY: test
ifdef FILE
test: packages servers ## Every test but those of a cluster, ending with one line: N passed, N failed, N skipped; FILE=…: those files
	@$(VITEST) $(FILE)
else
test: packages servers python agents mcp s3 documents training
	@$(SETUP) k6 || echo 'going on without k6: the tests in test/load will fail' >&2
	@$(VITEST) --exclude 'test/cluster/**' --exclude 'test/spec/{chat,documents,surfaces,typed}.test.ts'
endif

.PHONY: watch
watch: packages servers ## Run tests again whenever a file of theirs changes (FILE: which, such as src/meter)
	@NO_COLOR=1 $(WITH_NODE) node_modules/.bin/vitest watch $(FILE)

# Besides the code: the documents, the rules of the tree, the counters on both stores, recorded answers of every vendor.
QUICK := src/ test/architecture test/documents-check test/glossary test/reference \
	test/contract/limit-counters.test.ts test/fidelity/recordings.test.ts

.PHONY: test-quick
test-quick: packages servers ## The tests for every day: the code's own, and a few from outside
	@$(VITEST) $(QUICK)

.PHONY: test-unit
test-unit: packages ## The tests beside the code under src/
	@$(VITEST) "$(CURDIR)/src/"

# The clients' Python packages are needed there only, and coding agents.
test-journeys: python agents

# Of `make test` a short form is part.
.PHONY: test-agents
test-agents: export AGENTS ?= all
test-agents: packages servers agents aider ## Whole sessions of Claude Code, Codex, opencode and aider, with every place of a model and mode
	@$(VITEST) "$(CURDIR)/test/journeys/agents/"

# Servers and clients of others are needed there only. Of `make test` a short form is part.
test-mcp: export MCP_CALLS ?= 10000
test-mcp: export MCP_CLIENTS ?= all
test-mcp: export MCP_MESSAGES ?= 100000
test-mcp: mcp agents

# Fonts, and other readers of documents, are needed there only.
test-documents: documents

.PHONY: test-leak
test-leak: export LEAK_DOCUMENTS ?= 432
test-leak: packages servers documents office ## Anonymize hundreds of documents and look for what is left in them (LEAK_DOCUMENTS)
	@$(VITEST) "$(CURDIR)/test/documents/leaks.test.ts"
	@GW_MODELS_DIR="$(CURDIR)/inference/models" $(VITEST) "$(CURDIR)/test/documents/leaks.test.ts" -t 'nobody is named'

.PHONY: real-documents
real-documents: packages documents real ## Anonymize PDFs that packages of others bring along, and look for what should be gone with pdftotext
	@exec $(WITH_NODE) node test/bench/real-documents.ts

# Of `make test` a few rounds of chaos are part; alone it goes on for longer. The seed it prints repeats its faults.
test-chaos: export CHAOS_ROUNDS ?= 200

# Of `make test` a short form is part; alone each exploring attack goes on for so many seconds. ATTACK_SEED repeats a run.
test-attack: export ATTACK_SECONDS ?= 60

SECONDS ?= 60
.PHONY: fuzz
fuzz: packages servers ## Feed changed requests, answers, resources and evidence for SECONDS each (TARGET, SEED: see test/fuzz)
	@exec $(WITH_NODE) node test/fuzz/fuzz.ts --target "$(TARGET)" --seconds "$(SECONDS)" $(if $(SEED),--seed "$(SEED)")

# What trains models is needed there only.
test-models: training

# The stand-in for object storage is needed there only.
test-failure: s3

# The load generator is needed there only.
test-load: k6

# Helm is needed there only; `make test` leaves these tests out where it is not built.
test-charts: helm

.PHONY: test-cluster
test-cluster: packages servers cluster ## Definitions, charts and controller on a real API server (builds Kubernetes first, once)
	@$(VITEST) --maxWorkers=1 "$(CURDIR)/test/cluster/"

.PHONY: test-containers
test-containers: packages servers containers k6 ## Build the images and run them: a journey, and a drain of five minutes (root, Debian; 15 minutes)
	@TEST_CONTAINERS=1 $(VITEST) "$(CURDIR)/test/containers/"

.PHONY: images
images: packages containers ## Build the images without a registry, on bases of Debian's packages (root, Debian)
	@tools/images/local.sh bases
	@for image in gatewarden gatewarden-inference gatewarden-bridge; do tools/images/local.sh build $$image || exit; done

.PHONY: ci
ci: check test test-spec test-charts test-cluster test-containers ## All there is: to checks and tests come Helm, a cluster and containers

# Of `make test` the table and the quicker half are part.
test-spec: documents

.PHONY: spec-page
spec-page: packages ## Write docs/prove/specification.md: what stands for each sentence of the specification
	@$(WITH_NODE) node test/spec/write-page.ts

# `make test-<folder>`
test-%: packages servers
	@[ -d "test/$*" ] || { echo "no folder test/$*; see make help" >&2; exit 2; }
	@$(VITEST) "$(CURDIR)/test/$*/"

.PHONY: bench
bench: packages servers ## Measure what the gateway adds to a call; fails over test/bench/budgets.json (BENCH_ONLY=buffered,money: those parts; BENCH_STORE=1: store)
	@status=0; $(WITH_NODE) node test/bench/bench.ts || status=$$?; \
	[ -n "$$BENCH_ONLY" ] || $(MAKE) bench-documents || status=$$?; exit $$status

TREE ?= ../other
.PHONY: bench-beside
bench-beside: packages servers ## Measure what a call costs here and in another checkout, in turns (TREE: where it is, installed; KIB: sizes of prompts, stream, translated-stream)
	@exec $(WITH_NODE) node test/bench/beside.ts "$(TREE)" $(KIB)

.PHONY: bench-start
bench-start: packages servers ## Measure how long starts take, and how much memory (TREE: another checkout, measured in turns; BENCH_ONLY, BENCH_STARTS)
	@$(WITH_NODE) node test/bench/start.ts $(if $(filter command line,$(origin TREE)),"$(TREE)")

.PHONY: bench-peers
bench-peers: packages servers peers ## Measure Gatewarden, other gateways, nginx and a bare proxy in turns (PEERS=nginx,portkey: those; BENCH_ROUNDS)
	@exec $(WITH_NODE) node test/bench/peers/peers.ts

.PHONY: bench-streams
bench-streams: packages servers ## Hold STREAMS (10000) open for MINUTES (10): memory, delay and drain of one process
	@exec $(WITH_NODE) node test/bench/streams.ts

.PHONY: eval
eval: packages ## Score detectors, local models and the scope guard on texts they have not seen; fails where they take too long (DATA: the folder of data; ONLY=names,router; PRESIDIO: that file)
	@exec $(WITH_NODE) node test/eval/eval.ts --data "$(DATA)" $(if $(ONLY),--only "$(ONLY)") $(if $(PRESIDIO),--presidio "$(PRESIDIO)")

.PHONY: walk
walk: packages ## Count the files and functions that one buffered chat call enters (LIST=1 names them)
	@$(WITH_NODE) node test/bench/walk.ts $(if $(LIST),--list)

.PHONY: bench-ocr
bench-ocr: packages documents ## Measure text recognition beside the system's tesseract
	@exec $(WITH_NODE) node test/bench/ocr.ts

.PHONY: bench-documents
bench-documents: packages servers documents ## Measure pages a minute, and what a document in a prompt costs
	@exec $(WITH_NODE) node test/bench/documents.ts

.PHONY: bench-names
bench-names: packages servers ## Measure what looking for names adds to a call
	@exec $(WITH_NODE) node test/bench/names.ts

.PHONY: bench-cluster
bench-cluster: packages servers cluster ## Measure kubectl apply to enforcement with 1,000 workloads and 100,000 keys (BENCH_KEYS for less)
	@exec $(WITH_NODE) node test/bench/cluster.ts

.PHONY: bench-ledger
bench-ledger: packages servers ## Measure the ledger with ten million rows (BENCH_ROWS for less)
	@exec $(WITH_NODE) node test/bench/ledger.ts

.PHONY: train-names train-router train-typed train-logins
train-names: packages training ## Train the model of names into inference/models (DATA: the folder of data; SMOKE=1: in a minute)
	@$(TRAIN) -m names.train $(TRAINED)
train-router: packages training ## Train the router
	@$(TRAIN) -m router.train $(TRAINED)
train-typed: packages training ## Train the model of typed decisions
	@$(TRAIN) -m typed.train $(TRAINED)
train-logins: packages ## Train the model of logins and passwords into src/inspect/detectors (DATA: the folder of data)
	@$(WITH_NODE) env DATA="$(DATA)" node tools/login-model/train.ts

.PHONY: check
check: packages check-tools ## Format, lint, types, architecture, documents, dead code and phrases
	@$(MAKE) --keep-going --jobs=2 --output-sync=target \
		check-format check-lint check-types check-architecture check-dead check-phrases

.PHONY: check-format check-lint check-types check-architecture check-dead check-phrases
check-format:
	@$(call quietly,$(CHECK)/oxfmt --check)
check-lint:
	@$(call quietly,$(CHECK)/oxlint)
check-types:
	@$(call quietly,$(WITH_NODE) node_modules/.bin/tsc --noEmit)
check-architecture:
	@$(call quietly,$(WITH_NODE) node tools/architecture.ts)
check-dead:
	@$(call quietly,$(CHECK)/knip --no-progress)
	@$(call quietly,$(CHECK)/knip --no-progress --config knip.product.json)
check-phrases:
	@$(call quietly,$(WITH_NODE) node tools/ratchet.ts)

.PHONY: ratchet
ratchet: packages ## Lower the numbers of tools/ratchet.json to what is left of old phrases and words
	@$(WITH_NODE) node tools/ratchet.ts --lower

.PHONY: crds
crds: packages ## Write the CRDs of the chart, and the pages about kinds, from the schemas of the resources
	@$(WITH_NODE) node tools/crds.ts
	@$(MAKE) docs

.PHONY: add-vendor
add-vendor: packages servers ## Write the files of a vendor that speaks OpenAI's families, and run the matrix for it (NAME=acme)
	@$(WITH_NODE) node tools/add-vendor.ts "$(NAME)"
	@$(MAKE) crds matrix-vendor

.PHONY: release
release: ## Write a version everywhere, as one commit with a tag (VERSION=1.2.3)
	@$(WITH_NODE) node tools/release.ts "$(VERSION)"

.PHONY: matrix-vendor
matrix-vendor: packages servers ## Run the matrix for one vendor (NAME=acme)
	@$(VITEST) "$(CURDIR)/test/matrix/" -t ' · $(NAME) · '

.PHONY: docs
docs: packages ## Write docs/reference from the code: error codes, gwctl, kinds and the others of tools/reference.ts
	@$(WITH_NODE) node tools/reference.ts

.PHONY: format
format: packages check-tools ## Rewrite files as `make check` wants them, where it can
	@$(call quietly,$(CHECK)/oxfmt)
	@$(call quietly,$(CHECK)/oxlint --fix)

.PHONY: tools
tools: k6 helm ## Build the pinned tools of tools/go into .tools/bin, less those of a cluster (the first time takes minutes)

.PHONY: clean
clean: ## Remove what was installed, built or stored here
	@rm -rf node_modules tools/node/node_modules tools/check/node_modules tools/agents/node_modules tools/mcp/node_modules tools/peers/node_modules .tools .compiled .data coverage bench-results eval-results

.PHONY: training packages check-tools servers documents real office python agents mcp aider peers s3 k6 helm cluster containers
training:
	@$(SETUP) training
packages:
	@$(SETUP) node packages
check-tools:
	@$(SETUP) check
servers:
	@$(SETUP) servers
documents:
	@$(SETUP) documents
office:
	@$(SETUP) office
real:
	@$(SETUP) real
python:
	@$(SETUP) python
agents:
	@$(SETUP) agents
mcp:
	@$(SETUP) mcp
aider:
	@$(SETUP) aider
peers:
	@$(SETUP) peers
s3:
	@$(SETUP) s3
k6:
	@$(SETUP) k6
helm:
	@$(SETUP) helm
cluster:
	@$(SETUP) cluster
containers:
	@$(SETUP) node containers
