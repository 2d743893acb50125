# Every target makes what it needs: Python >= 3.11, git and make are enough to begin with.
PYTHON ?= python3
PYTEST_ARGS ?=
NAMES ?=
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check format corpus conformance prism retrieval fuzz clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than 3.11; say which Python to use: make PYTHON=python3.12 …" >&2; exit 1; }
	@echo "Preparing .venv (once) …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)

demo: $(READY) ## Start the sample API and the bridge, call it as an MCP client, end (KEEP=1: leave them running)
	@$(BIN)/python -m examples.demo $(if $(KEEP),--keep)

test: $(READY) ## Run the tests (PYTEST_ARGS='-k styles' for some of them)
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

corpus: $(READY) ## Run only the tests over the corpus of real documents, where it is present
	@$(BIN)/python -m pytest -m corpus $(PYTEST_ARGS)

conformance: $(READY) ## Run the official MCP conformance suite against the bridge, with one worker and with two
	@$(BIN)/python -m tests.conformance

golden: $(READY) ## Write the packages in tests/golden anew, to be reviewed like code
	@$(BIN)/python -m tests.generating

prism: $(READY) ## Put requests for real documents before a referee, Stoplight Prism (NAMES='stripe box' for some)
	@$(BIN)/python -m benchmarks.prism $(NAMES)

retrieval: $(READY) ## Measure how well and how fast search mode finds tools
	@$(BIN)/python -m benchmarks.retrieval

fuzz: $(READY) ## Put bad peers before the server for long (CASES=10000)
	@FUZZ=$(or $(CASES),10000) $(BIN)/python -m pytest tests/test_fuzz_stdio.py tests/test_fuzz_http.py --timeout 0 --durations 4

check: $(READY) ## Lint, check the format, check the types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

format: $(READY) ## Put the code into the project's format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean: ## Remove everything that these targets made
	@rm -rf .venv dist build node_modules tests/clients/node_modules tests/conformance/node_modules benchmarks/prism/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
