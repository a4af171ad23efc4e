# The few commands of this project. `make` alone lists them.

PYTHON ?= python3
BENCH  ?=

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/ready
LOCK  := requirements/lock.txt
TRACE := examples/data/KTH-SP2-1996-2.1-cln.swf.gz

.DEFAULT_GOAL := help
.PHONY: help setup demo test conformance fidelity lint bench lock clean

help: ## list these commands
	@echo "usage: make COMMAND [PYTHON=python3.12]"
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1	\2/p' Makefile

setup: $(READY) ## install what the lock file says into .venv

demo: $(READY) ## compare six policies on a real log, then explain a pending pod
	@mkdir -p demo
	$(BIN)/gnomon compare $(TRACE) --cluster 100 \
	    --policy fcfs,sjf,easy,sjf+easy,conservative,fair-share+easy --html demo/compare.html
	@echo
	$(BIN)/gnomon explain render -f examples/why-pending.yaml
	@echo
	@echo "The comparison as a page, for any browser: demo/compare.html"

test: lint ## lint, then run all tests but those beside real engines
	$(BIN)/pytest -n 2 -q -m "not conformance"

conformance: $(READY) ## the same commands to the model and to real engines, where those are installed
	$(BIN)/pytest -q -m conformance -rs

fidelity: $(READY) ## judge all recorded cases, and write docs/fidelity.md and the table in README.md
	$(BIN)/python -m tests.fidelity $$(date +%Y-%m-%d)

lint: $(READY) ## check form, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(READY) ## measure speed; BENCH="..." is passed on
	$(BIN)/python -m benchmarks $(BENCH)

lock: $(READY) ## resolve the newest allowed versions into the lock file
	$(BIN)/python -m pip install --quiet uv
	@{ echo "# Every version that the project is installed, tested and built with, on Python 3.11 to 3.13."; \
	   echo "# The ranges are in pyproject.toml. To move to the newest that they allow: make lock"; \
	   $(BIN)/uv pip compile pyproject.toml --group dev --group build --upgrade --quiet \
	       --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	       --no-header --no-emit-index-url --no-emit-find-links; } > $(LOCK).new
	@mv $(LOCK).new $(LOCK)
	@echo "$(LOCK) is new; \`make test\` installs and tries it."

clean: ## remove all that these commands made
	rm -rf $(VENV) demo dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Made anew whenever the versions or the package's own description change.
$(READY): $(LOCK) pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
	    echo "$(PYTHON) is not found. Gnomon needs Python 3.11, 3.12 or 3.13: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || { \
	    echo "$(PYTHON) is `$(PYTHON) --version 2>&1`. Gnomon needs 3.11, 3.12 or 3.13: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	    echo "$(PYTHON) lacks venv or pip. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing into $(VENV) (once, about a minute) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@
	@echo "Ready: $(BIN)/gnomon --help"
