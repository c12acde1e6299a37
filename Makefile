# What can be done here. `make` alone lists it; every target sets up .venv first if need be.

SHELL       := bash
SUITE       ?= prompts
MODEL       ?= 0.5b
ARGS        ?=
PARTS       ?=
REPEAT      ?=
EVERY       ?=
WITH        ?=
PYTEST_ARGS ?=
BIN         := .venv/bin
READY       := .venv/.ready

# The first Python on the path that is new enough; `make setup PYTHON=/path/to/python` chooses another.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)

# Bytecode halves the start of every command; some environments switch it off.
unexport PYTHONDONTWRITEBYTECODE

QUIET := -qq --disable-pip-version-check
export UV_SYSTEM_CERTS := 1
# By hash, what locks name, and nothing else. uv takes a fifth of the time; it does not know what pip was told of another
# index, or of none: then, and where it gets nothing, pip does it.
install = { ! $(BIN)/python -m pip config list | grep -qE "[.](index-url|no-index)=" && \
	UV_HTTP_RETRIES=1 $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-deps $(1) 2>/dev/null; } || \
	$(BIN)/python -m pip install $(QUIET) --no-compile --require-hashes --no-deps $(1)
# Half of the code that comes along, hardly ever loaded here: Python compiles what it needs of it by itself. What a run
# loads is compiled: bytecode made while a process waits for the next `--watch` round is a change of what it imported.
UNUSED := /(kubernetes|setuptools|mypyc?|tests|statsmodels|onnxruntime/(quantization|tools|transformers)|huggingface_hub|virtualenv|distlib|oauthlib)/

# Targets of version 0.1: they print the command that took their place, and run it. They go in version 0.3.
OLD := setup-git studio dask bench-peer local-llm plan released every format mutants explore chaos clean
NOW_setup-git = make setup WITH=git
NOW_studio = make setup WITH=studio
NOW_dask = make setup WITH=dask
NOW_bench-peer = make setup WITH=bench
NOW_local-llm = make setup WITH=llm && $(BIN)/python -m tests.local_llm start --model $(MODEL) $(ARGS)
NOW_plan = $(BIN)/evals plan $(SUITE) $(ARGS)
NOW_released = $(BIN)/evals dataset fetch --dataset datasets/released $(ARGS)
NOW_every = make test EVERY=1
NOW_format = $(BIN)/ruff check --fix . && $(BIN)/ruff format .
NOW_mutants = $(BIN)/python -m tests.mutation $(ARGS)
NOW_explore = $(BIN)/python -m tests.explore $(ARGS)
NOW_chaos = $(BIN)/python -m tests.chaos $(PARTS) $(ARGS)
NOW_clean = rm -rf .*_cache .hypothesis build dist reports/latest

# Optional parts of `make setup WITH=...`, and the file that each leaves behind.
PART_git := .venv/.git-settings
PART_dask := .venv/.ready-dask
PART_llm := .venv/.ready-llm
PART_bench := .venv/.ready-bench
PART_studio := .cache/studio/.ready

.DEFAULT_GOAL := help
.PHONY: help setup eval record check lint types contracts test bench lock wheel $(OLD)

help:  ## This list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(READY) $(foreach part,$(WITH),$(or $(PART_$(part)),$(error setup: there is no part $(part); parts: git dask llm bench studio)))  ## .venv with exactly what requirements.lock names; WITH="git dask llm bench studio": optional parts (see CONTRIBUTING.md)

$(READY): requirements.lock pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "make: no Python 3.11 or newer found; install one, or: make setup PYTHON=/path/to/it" >&2; exit 2; fi
	@[ -x $(BIN)/python ] && [ -x $(BIN)/pip ] || "$(PYTHON)" -m venv .venv
	@echo "installing what requirements.lock names ..."
	@$(BIN)/python -m pip install $(QUIET) --no-compile --require-hashes --no-deps -r <(sed -n '/^uv==/,/[^\\]$$/p' requirements.lock) 2>/dev/null || true
	@$(call install,-r requirements.lock)
	@$(BIN)/python -m compileall -qq -j 0 -x '$(UNUSED)' .venv/lib >/dev/null 2>&1 || true  # what is no Python of today stays as it is
	@$(BIN)/python -m pip install $(QUIET) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.ready-%: $(READY) requirements-%.lock
	@$(call install,-r requirements-$*.lock)
	@touch $@

# Beside .venv, since it wants an older protobuf.
.cache/studio/.ready: $(READY) requirements-studio.lock
	@rm -rf .cache/studio
	@$(call install,--target .cache/studio -r requirements-studio.lock)
	@touch $@

# Settings of this clone: git shows cassettes as text, and merges two recordings of one case. Never a file, so always run.
.venv/.git-settings: $(READY)
	@git config diff.cassette.textconv "'$(CURDIR)/$(BIN)/evals' cassette show --plain"
	@git config merge.cassette.name "union of two recordings of one case"
	@git config merge.cassette.driver "'$(CURDIR)/$(BIN)/evals' cassette merge %O %A %B %P"
	@file="$$(git rev-parse --git-path info/attributes)" && mkdir -p "$$(dirname "$$file")" && touch "$$file" && \
		{ grep -qxF '$(MERGED)' "$$file" || echo '$(MERGED)' >> "$$file"; }
	@echo "git diff shows cassettes/*.yaml as text; git merge joins two recordings of one case"

MERGED = cassettes/**/*.yaml merge=cassette

eval: $(READY)  ## Replay SUITE (default: prompts) offline and judge it: 0 not worse, 1 worse, 2 usage, 3 cannot judge
	@$(BIN)/evals run $(SUITE) $(ARGS)

record: $(READY)  ## Record what SUITE lacks: from EVALS_BASE_URL, else from a local model (MODEL=0.5b, 1.5b or a GGUF file)
	@[ -n "$$EVALS_BASE_URL" ] || { $(MAKE) --no-print-directory setup WITH=llm && \
		$(BIN)/python -m tests.local_llm start --model $(MODEL); }
	@$(BIN)/evals record $(SUITE) $(ARGS)

check: lint types contracts test  ## Everything that has to be green before a commit

lint: $(READY)  ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY)  ## mypy, strict
	@$(BIN)/mypy

contracts: $(READY)  ## Imports point one way
	@$(BIN)/lint-imports

test: $(READY)  ## pytest (PYTEST_ARGS="-k name"); EVERY=1: over every cassette, not a sample; REPEAT=20: 20 rounds in random order
	@$(if $(EVERY),EVERY=1 )$(BIN)/python -m $(if $(REPEAT),tests.repeat $(REPEAT),pytest -q $(SHARED_OUT)) \
		$(if $(EVERY),$$(grep -rl "tests.builders.shipped import" tests --include="test_*.py")) $(PYTEST_ARGS)

# A stretch of tests to each processor, so that what a file prepares is prepared once; who is done takes of another's.
SHARED_OUT = -n auto --dist worksteal

bench: $(READY)  ## Measure what everything costs, each line beside its goal; writes docs/performance.md (PARTS="suite many": some)
	@$(BIN)/python -m tests.bench $(SUITE) $(PARTS)

wheel: $(READY)  ## Build the wheel into dist/
	@rm -rf build
	@$(BIN)/python -m pip wheel $(QUIET) --no-deps --no-build-isolation --wheel-dir dist .
	@rm -rf build

lock: $(READY)  ## Write the lock files again from pyproject.toml and requirements-*.in
	@$(BIN)/uv pip compile pyproject.toml --extra dev $(LOCK) --output-file requirements.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-llm.in $(LOCK) --output-file requirements-llm.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-studio.in $(LOCK) $$(sed -nE '/^protobuf==/d; s/^([a-z0-9-]+)==.*/--no-emit-package \1/p' requirements.lock) \
		--output-file requirements-studio.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-bench.in $(LOCK) --output-file requirements-bench.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-dask.in $(LOCK) --output-file requirements-dask.lock $(ARGS)

# For every system and Python at once; no address of a registry, no path of this machine.
LOCK = --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

$(OLD): $(READY)
	@echo "make $@ is now: $(NOW_$@)" >&2
	@$(NOW_$@)
