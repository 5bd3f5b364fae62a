# All set-up is here. `make lab` opens the lessons, `make test` checks everything; `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

# The first Python of the right age on the path; `make lab PYTHON=/path/to/python3.12` names another.
MIN_PYTHON := 3.11
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < tuple(map(int, "$(MIN_PYTHON)".split("."))))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c '$(IS_NEW_ENOUGH)' 2>/dev/null && { echo "$$p"; exit 0; }; done; echo python3)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input
LAB := $(VENV)/.lab-is-set-up
TEST := $(VENV)/.test-is-set-up

.PHONY: help lab app gallery test test-slow demo lint format bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(LAB) ## open JupyterLab on a working copy of the lessons
	@$(BIN)/ilstma-lab lab

app: $(LAB) ## open the chat lab as a page of its own
	@$(BIN)/python -c 'import voila' 2>/dev/null || $(PIP) install --editable '.[app]'
	@$(BIN)/ilstma-lab app

gallery: $(LAB) ## execute the lessons and write them as pages into build/gallery
	$(BIN)/python -m ilstma_lab.teaching.gallery build/gallery

# Two processes, each with whole files in their order: browser tests come last, since no other event loop runs beside theirs.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# numpy's threads wait for each other where kernels and Chromium want the same cores: an embedding then takes many times as long.
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: lint ## check everything: lint, then all tests but the slow ones
	$(PYTEST) $(PYTEST_ARGS)

test-slow: lint ## check everything, the slow tests too, with ten times as many random examples
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m "" $(PYTEST_ARGS)

demo: $(LAB) ## play the bundled conversation: each question, its steps, the closing figures
	@$(BIN)/ilstma-lab demo

lint: $(TEST) ## check style, format, and that lessons carry no outputs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	find notebooks -name '*.ipynb' -not -path '*/.*' -exec $(BIN)/nbstripout --keep-id --verify {} +

format: $(TEST) ## put code in format and strip the lessons' outputs
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find notebooks -name '*.ipynb' -not -path '*/.*' -exec $(BIN)/nbstripout --keep-id {} +

bench: $(LAB) ## measure what the README states
	$(BIN)/python -m benchmarks

clean: ## remove .venv and caches; the working copy of the lessons stays
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is written when everything before it went well, and is out of date when pyproject.toml is newer.
$(BIN)/python:
	@"$(PYTHON)" -c '$(IS_NEW_ENOUGH)' 2>/dev/null || { \
		echo "ilstma_lab needs Python $(MIN_PYTHON) or newer; $(PYTHON) is: $$("$(PYTHON)" --version 2>&1 || true)." >&2; \
		echo "Install one, or name it: make lab PYTHON=/path/to/python$(MIN_PYTHON)" >&2; exit 1; }
	@"$(PYTHON)" -m venv --clear $(VENV) || { rm -rf $(VENV); \
		echo "Python could not make $(VENV). On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }

$(LAB): pyproject.toml $(BIN)/python
	@echo "Setting up $(VENV), once: this takes a minute or two."
	@$(PIP) install --editable .
	@touch $@

$(TEST): pyproject.toml $(BIN)/python
	@echo "Setting up $(VENV) with what the tests need, once: this takes a minute or two."
	@$(PIP) install --editable '.[test]'
	@touch $@ $(LAB)
