# Every target sets up .venv by itself (Python 3.10 or later and make are enough) and uses it again
# as long as pyproject.toml has not changed. Another Python: make PYTHON=python3.13 test
# More arguments for a tool: make test ARGS="-k redirect -n 0" (-n 0: in one process, one test after the other)

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

# Where Python may keep no bytecode, each process of the tests compiles all modules once more.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.PHONY: help demo check test faults lint types docs screenshots bench clean

help:
	@echo "make demo    crawl a demo shop with and without scrapy-dedup"
	@echo "make check   style, types and the quick tests, in about a minute"
	@echo "make test    run the tests"
	@echo "make faults  kill crawls and fleets in the middle and see that nothing is lost (ARGS=\"--runs N\": 50 and 30)"
	@echo "make lint    check style (ruff), imports (import-linter), spelling, links and words of the documentation"
	@echo "make types   check the types (mypy)"
	@echo "make docs    build the documentation into docs/_build/html"
	@echo "make screenshots  make the pictures of the report in docs/images (needs Chromium)"
	@echo "make bench   run the benchmarks (DATA=DIR: recorded sites and labelled URL sets)"
	@echo "make clean   remove what the targets made"

demo: $(VENV)/.has-run
	@$(RUN) example_project/demo.py $(ARGS)

test: $(VENV)/.has-test
	@$(RUN) -m pytest -q -n auto --dist worksteal $(ARGS)

check: lint types $(VENV)/.has-test
	@$(RUN) -m pytest -q -n auto --dist worksteal -m "not slow" --hypothesis-profile=quick $(ARGS)

faults: $(VENV)/.has-test
	@$(RUN) -m tests.faults.kill $(ARGS)
	@$(RUN) -m tests.faults.fleet $(ARGS)

lint: $(VENV)/.has-lint
	@$(RUN) -m ruff check --quiet . && $(RUN) -m ruff format --check --quiet .
	@$(VENV)/bin/codespell README.rst CHANGES.rst CONTRIBUTING.md SECURITY.md docs scrapy_dedup && $(RUN) docs/_links.py && $(RUN) docs/_wording.py
	@said=$$($(VENV)/bin/lint-imports --no-logo --no-cache 2>&1) || { echo "$$said"; exit 1; }

types: $(VENV)/.has-lint
	@$(RUN) -m mypy --no-error-summary $(ARGS)

docs: $(VENV)/.has-docs
	@$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html

screenshots: $(VENV)/.has-browser
	@$(RUN) docs/screenshots.py $(ARGS)

bench: $(VENV)/.has-bench
	@$(RUN) -m tests.benchmarks $(if $(DATA),--data "$(DATA)") $(ARGS)

clean:
	@rm -rf $(VENV) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@rm -rf example_project/demo-output example_project/.scrapy example_project/dedup-rules

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else "Python 3.10 or later is needed: make PYTHON=...")'
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# "run" is what the package itself needs; the others are its extras of the same name.
$(VENV)/.has-run: pyproject.toml | $(RUN)
	@$(RUN) -m pip install --quiet --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.has-%: pyproject.toml | $(RUN)
	@$(RUN) -m pip install --quiet --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
