# Everything here sets itself up: it needs make and a Python of 3.11 or later, nothing else.
#
#   make verify    every judge on RocketMQ 4.9.3 as shipped, and out/verify/report.html
#   make test      all tests        make lint     ruff and mypy
#   make quality   the long searches and comparisons that `make test` leaves out (three minutes of two cores)
#   make bench     benchmarks       make interop  compare live with the official RocketMQ jars, ports, and TLC
#   make verify-engines   compare the engines on random concepts: CONCEPTS=10000 SEED=0 (two hours of a core)
#   make mutants   change each condition of the rules, and count what their tests notice (an hour)
#   make hypothesis-range   the machines, with the oldest and the newest Hypothesis that may be installed
#   make installed   the wheel in an environment of its own, and every judge from there
#   make lock      resolve the dependencies anew (needs uv)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help verify verify-engines test quality lint bench interop mutants hypothesis-range installed lock

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
MUTATION := $(VENV)-mutation
LOCKED := requirements/locked.txt

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed '/^$$/q;1d' ; sed -n 's/^#   /  /p' Makefile

verify: $(READY)
	$(BIN)/rocketproof verify --campaign-seconds 30

test: $(READY)
	@$(BIN)/python -m stateful_tests.cover.report.browser || echo "no browser: the tests marked 'browser' will fail" >&2
	@failed=0; \
	$(BIN)/python -m pytest -m "not spark and not java and not quality" -n 2 --dist loadfile --durations 20 || failed=1; \
	$(BIN)/python -m pytest -m spark || failed=1; \
	$(BIN)/python -m pytest -m java || failed=1; \
	exit $$failed

quality: $(READY)
	$(BIN)/python -m pytest -m "quality and not spark" -n 2

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m bench.explorer
	$(BIN)/python -m bench.prove --solver both
	$(BIN)/python -m bench.kernel
	$(BIN)/python -m bench.open
	$(BIN)/python -m bench.simulation
	$(BIN)/python -m bench.campaign
	$(BIN)/python -m bench.port
	$(BIN)/python -m bench.histories

interop: $(READY)
	$(BIN)/python -m stateful_tests.conformance.java
	$(BIN)/python -m stateful_tests.conformance.java.stores --out out/interop
	$(BIN)/python -m stateful_tests.conformance.port
	$(BIN)/python -m stateful_tests.conformance.tlc --out out/interop

CONCEPTS ?= 10000
SEED ?= 0

verify-engines: $(READY)
	$(BIN)/python -m stateful_tests.engines --concepts $(CONCEPTS) --seed $(SEED) --tlc

mutants: $(READY)
	@[ -x $(MUTATION)/bin/cosmic-ray ] || { $(BIN)/python -m venv $(MUTATION) && \
	  $(MUTATION)/bin/pip install --quiet --disable-pip-version-check cosmic-ray==8.7.0; }
	$(BIN)/python -m stateful_tests.rules.mutants --cosmic-ray $(abspath $(MUTATION)/bin/cosmic-ray)

hypothesis-range: $(READY)
	$(BIN)/python -m stateful_tests.installed.hypothesis_range

installed: $(READY)
	$(BIN)/python -m stateful_tests.installed

lock:
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 2; }
	uv pip compile pyproject.toml requirements/build.in --all-extras --universal --generate-hashes \
	  --python-version 3.11 --no-annotate --custom-compile-command "make lock" --upgrade --quiet -o $(LOCKED)

# The virtual environment: made with the newest Python that is there, filled with the locked packages and this project.
$(READY): $(LOCKED) pyproject.toml setup.py
	@python=$$(.ci/python) && { [ -x $(BIN)/python ] || "$$python" -m venv $(VENV) || { \
	  echo "$$python cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 2; }; }
	@echo "installing the locked packages into $(VENV) (once; some 500 MB to download)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCKED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
