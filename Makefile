# The few commands of this project. `make` alone lists them.

PYTHON  ?= python3
BENCH   ?=
READER  ?= traces
MINUTES ?= 20

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/ready
LOCK  := requirements/lock.txt
DOCS  := .venv-docs
DOCS_LOCK := requirements/docs.txt
TRACE := examples/data/KTH-SP2-1996-2.1-cln.swf.gz

COMMA := ,
# $(call resolve,FILE,WHAT,WHO) writes the newest versions that pyproject.toml allows.
define resolve
@{ echo '# Every version that $(3), on Python 3.11 to 3.13.'; \
   echo '# The ranges are in pyproject.toml. To move to the newest that they allow: make lock'; \
   $(BIN)/uv pip compile $(2) --upgrade --quiet --universal --python-version 3.11 --fork-strategy fewest \
       --generate-hashes --no-header --no-emit-index-url --no-emit-find-links; } > $(1).new && mv $(1).new $(1)
endef

define needs_python
@command -v $(PYTHON) >/dev/null || { \
	    echo "$(PYTHON) is not found. Gnomon needs Python 3.11, 3.12 or 3.13: make setup PYTHON=python3.12" >&2; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || { \
	    echo "$(PYTHON) is `$(PYTHON) --version 2>&1`. Gnomon needs 3.11, 3.12 or 3.13: make setup PYTHON=python3.12" >&2; exit 1; }
@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	    echo "$(PYTHON) lacks venv or pip. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
endef

.DEFAULT_GOAL := help
.PHONY: help setup demo test conformance fidelity lint bench fuzz docs screens lock clean

help: ## list these commands
	@echo "usage: make COMMAND [PYTHON=python3.12]"
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1	\2/p' Makefile

setup: $(READY) ## install what the lock file says into .venv

demo: $(READY) ## compare six policies on a real log, then explain a waiting job
	@mkdir -p demo
	$(BIN)/gnomon compare $(TRACE) --cluster 100 \
	    --policy fcfs,sjf,easy,sjf+easy,conservative,fair-share+easy --html demo/compare.html
	@echo
	$(BIN)/gnomon explain render -f examples/why-pending.yaml
	@echo
	@echo "The comparison as a page, for any browser: demo/compare.html"
	@echo "Next, with files of your own: docs/tutorials/first-steps.md; all verbs: $(BIN)/gnomon"

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

bench: $(READY) ## measure speed (BENCH="batch slurm": only these), and write docs/performance.md and the table in README.md
	$(BIN)/python -m benchmarks $(BENCH)

fuzz: $(READY) ## look for inputs that a reader must not choke on (READER=traces MINUTES=20)
	@$(BIN)/python -c "import atheris" 2>/dev/null || $(BIN)/python -m pip install --quiet atheris
	$(BIN)/python -m tests.fuzz $(READER) --minutes $(MINUTES)

docs: $(DOCS)/ready ## build the documentation as a site, site/index.html; broken links and missing pages fail
	NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 $(DOCS)/bin/mkdocs build --strict --quiet
	@echo "The site, for any browser: site/index.html"

screens: $(READY) ## make the pictures of docs/screens anew: terminal output, and the report where chromium is
	$(BIN)/python docs/tools/screens.py

lock: $(READY) ## resolve the newest allowed versions into the lock files
	$(BIN)/python -m pip install --quiet uv
	$(call resolve,$(LOCK),pyproject.toml --group dev --group build,the project is installed$(COMMA) tested and built with)
	$(call resolve,$(DOCS_LOCK),--group pyproject.toml:docs,`make docs` installs)
	@echo "$(LOCK) and $(DOCS_LOCK) are new; \`make test docs\` installs and tries them."

clean: ## remove all that these commands made
	rm -rf $(VENV) $(DOCS) site demo dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# What builds the site only reads the source, and needs nothing of what the project itself is installed with.
$(DOCS)/ready: $(DOCS_LOCK)
	$(needs_python)
	@echo "Installing into $(DOCS) (once, half a minute) ..."
	@$(PYTHON) -m venv --clear $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(DOCS_LOCK)
	@touch $@

# Made anew whenever the versions or the package's own description change.
$(READY): $(LOCK) pyproject.toml
	$(needs_python)
	@echo "Installing into $(VENV) (once, about a minute) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@
	@echo "Ready: $(BIN)/gnomon --help"
