# Each target first creates a virtual environment with all that it needs. Required: Python 3.11 or newer, git, make.
# `make PYTHON=python3.13 test` uses an environment of its own, .venv-3.13; without PYTHON it is python3 and .venv.
ifeq ($(origin PYTHON),undefined)
PYTHON := python3
VENV := .venv
else
VENV := .venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
endif
WORKERS ?=
PYTEST_ARGS ?=
CASES ?= 1000
NAMES ?=
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
# Half as many test processes again as cores where tests wait for the processes that they start.
CORES_AND_HALF = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) * 3 // 2)')
PARALLEL = -n $(or $(WORKERS),$(CORES_AND_HALF)) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo quick test check audit format fuzz faults ui screenshots replicas corpus conformance golden renew docs prism retrieval agents clean

help: ## Show this list
	@echo "Usage: make TARGET. The first one prepares $(VENV), once; that takes about a minute."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  make test PYTHON=python3.13           use another Python, with an environment of its own: .venv-3.13"
	@echo "  make test PYTEST_ARGS='-k styles'     pass arguments to pytest: run only some tests"
	@echo "  make test WORKERS=0                   run the tests in one process (default: three for two CPU cores)"

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is required, and '$(PYTHON)' is none: name another, e.g. make test PYTHON=python3.12" >&2; exit 1; }
	@echo "Preparing $(VENV) (once, about a minute) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)

demo: $(READY) ## Run the sample API, the bridge and an MCP client (KEEP=1: leave API and bridge running)
	@$(BIN)/python -m examples.demo $(if $(KEEP),--keep)

quick: $(READY) ## Run the tests that need no process, no network and no corpus: under a minute
	@$(PYTEST) -n $(or $(WORKERS),auto) --dist worksteal -m "not (process or corpus or slow or long)" $(PYTEST_ARGS)

test: $(READY) ## Run all tests: some minutes
	@$(PYTEST) $(PARALLEL) $(PYTEST_ARGS)

check: $(READY) ## Run ruff, check the format, run mypy --strict and bandit
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/bandit --quiet --recursive --configfile pyproject.toml openapi_mcp examples benchmarks

$(VENV)/.audit: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group audit
	@touch $@

audit: $(VENV)/.audit ## Look for known vulnerabilities of all packages in $(VENV), at pypi.org
	@$(BIN)/pip-audit --local --skip-editable --progress-spinner off

format: $(READY) ## Format the code and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

fuzz: $(READY) ## Draw new cases for property tests and hostile clients (CASES=10000 of each; default 1000)
	@FUZZ=$(CASES) $(PYTEST) $(PARALLEL) -m hypothesis --timeout 0 $(PYTEST_ARGS)

faults: $(READY) ## Do everything hostile to a server and measure how long others wait (NAMES='gzip clients': only these)
	@$(BIN)/python -m tests.faults $(NAMES)

ui: $(READY) ## Run the tests of the page, those in headless Chromium among them
	@$(PYTEST) tests/ui $(PYTEST_ARGS)

screenshots: $(READY) ## Take the pictures of the page in docs/ (needs Chromium)
	@$(BIN)/python -m tests.ui

replicas: $(READY) ## Make 10,000 calls through nginx to two replicas that share Redis, and kill one (needs redis-server, nginx)
	@SOAK=$${SOAK:-10000} $(PYTEST) -s --timeout 0 tests/replicas $(PYTEST_ARGS)

corpus: $(READY) ## Run the tests over all documents of the corpus, if ../shared/corpus exists
	@$(PYTEST) $(PARALLEL) -m corpus $(PYTEST_ARGS)

conformance: $(READY) ## Run the official MCP conformance suite against the bridge, with one worker and with two
	@$(BIN)/python -m tests.conformance

golden: $(READY) ## Rewrite the generated packages in tests/golden; review the difference as code
	@$(BIN)/python -m tests.generating

renew: $(READY) ## Rewrite the outputs, the pages made from the code and the recording in README.md and docs
	@$(BIN)/python -m tests.documentation

$(VENV)/.docs: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

docs: $(VENV)/.docs ## Build the documentation site in site/, with strict links
	@$(BIN)/zensical build --clean --strict --config-file mkdocs.yml

prism: $(READY) ## Check the requests of real documents with Stoplight Prism (NAMES='stripe box': only these)
	@$(BIN)/python -m benchmarks.prism $(NAMES)

retrieval: $(READY) ## Measure quality and speed of search mode
	@$(BIN)/python -m benchmarks.retrieval

agents: $(READY) ## Carry out scripted tasks in each mode and count tokens (FASTMCP=PYTHON: FastMCP besides)
	@$(BIN)/python -m benchmarks.agents $(if $(FASTMCP),--fastmcp $(FASTMCP))

clean: ## Remove everything that these targets created
	@rm -rf .venv .venv-* dist build node_modules tests/clients/node_modules tests/conformance/node_modules tests/ui/node_modules benchmarks/prism/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
