# What can be done here. `make` alone lists it; every target sets up .venv first if need be.

SHELL       := bash
SUITE       ?= prompts
MODEL       ?= 0.5b
ARGS        ?=
PARTS       ?=
REPEAT      ?=
PYTEST_ARGS ?=
BIN         := .venv/bin
READY       := .venv/.ready
LLM_READY   := .venv/.ready-llm

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
# Half of the code that comes along, hardly ever loaded here: Python compiles what it needs of it by itself.
UNUSED := /(kubernetes|setuptools|mypyc?|tests|statsmodels|onnxruntime|huggingface_hub|virtualenv|distlib|oauthlib)/

.DEFAULT_GOAL := help
.PHONY: help setup setup-git eval released record plan local-llm check lint types contracts test every format bench bench-peer dask mutants explore chaos lock clean

help:  ## This list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(READY)  ## .venv with exactly what requirements.lock names (instant when it is there)

$(READY): requirements.lock pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "make: no Python 3.11 or newer found; install one, or: make setup PYTHON=/path/to/it" >&2; exit 2; fi
	@[ -x $(BIN)/python ] && [ -x $(BIN)/pip ] || "$(PYTHON)" -m venv .venv
	@echo "installing what requirements.lock names ..."
	@$(BIN)/python -m pip install $(QUIET) --no-compile --require-hashes --no-deps -r <(sed -n '/^uv==/,/[^\\]$$/p' requirements.lock) 2>/dev/null || true
	@$(call install,-r requirements.lock)
	@$(BIN)/python -m compileall -qq -j 0 -x '$(UNUSED)' .venv/lib >/dev/null 2>&1 || true  # what is no Python of today stays as it is
	@$(BIN)/python -m pip install $(QUIET) --no-deps --no-build-isolation -e .
	@touch $@

setup-git: $(READY)  ## This clone's git shows cassettes as text, and merges two recordings of one case
	@git config diff.cassette.textconv "'$(CURDIR)/$(BIN)/evals' cassette text"
	@git config merge.cassette.name "union of two recordings of one case"
	@git config merge.cassette.driver "'$(CURDIR)/$(BIN)/evals' cassette merge %O %A %B %P"
	@file="$$(git rev-parse --git-path info/attributes)" && mkdir -p "$$(dirname "$$file")" && touch "$$file" && \
		{ grep -qxF '$(MERGED)' "$$file" || echo '$(MERGED)' >> "$$file"; }
	@echo "git diff shows cassettes/*.yaml as text; git merge joins two recordings of one case"

MERGED = cassettes/**/*.yaml merge=cassette

eval: $(READY)  ## Replay SUITE (default: prompts) offline and judge it; says the exit code: 0 ok, 1 worse, 2 usage, 3 cannot judge
	@TIMEFORMAT='wall time %R s'; time $(BIN)/evals run $(SUITE) $(ARGS); code=$$?; echo "evals exited with $$code"; exit $$code

released: $(READY)  ## Fetch the released packages that the suite `released` is about (needs an index, once), and prove its cases
	@$(BIN)/evals dataset fetch --dataset datasets/released $(ARGS)

plan: $(READY)  ## What of SUITE is not recorded yet, and why
	@$(BIN)/evals plan $(SUITE) $(ARGS)

record: $(READY)  ## Ask EVALS_BASE_URL, else a local LLM started for it, for what SUITE misses (see docs/recording.md)
	@[ -n "$$EVALS_BASE_URL" ] || $(MAKE) --no-print-directory local-llm
	@$(BIN)/evals record $(SUITE) $(ARGS)

local-llm: $(LLM_READY)  ## Fetch a small LLM and serve it on loopback (MODEL=0.5b, 1.5b or the path of a GGUF file)
	@$(BIN)/python -m evals.recording.local_llm start --model $(MODEL) $(ARGS)

$(LLM_READY): $(READY) requirements-llm.lock
	@$(call install,-r requirements-llm.lock)
	@touch $@

studio: .cache/studio/.ready  ## LangGraph's development server, beside .venv (see docs/live.md)

.cache/studio/.ready: $(READY) requirements-studio.lock
	@rm -rf .cache/studio
	@$(call install,--target .cache/studio -r requirements-studio.lock)
	@touch $@

check: lint types contracts test  ## Everything that has to be green before a commit

lint: $(READY)  ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY)  ## mypy, strict
	@$(BIN)/mypy

contracts: $(READY)  ## Imports point one way
	@$(BIN)/lint-imports

test: $(READY)  ## pytest (PYTEST_ARGS="-k name", "-m browser", "-n 2" ...); REPEAT=20: so many times in random order, every second under load
	@$(BIN)/python -m $(if $(REPEAT),tests.repeat $(REPEAT),pytest -q $(SHARED_OUT)) $(PYTEST_ARGS)

every: $(READY)  ## The tests over every shipped cassette, case, moment and draw, of which `make test` looks at a sample: minutes
	@EVERY=1 $(BIN)/python -m pytest -q $(SHARED_OUT) $$(grep -rl "tests.builders.shipped import" tests --include="test_*.py") $(PYTEST_ARGS)

# A stretch of tests to each processor, so that what a file prepares is prepared once; who is done takes of another's.
SHARED_OUT = -n auto --dist worksteal

format: $(READY)  ## Let ruff put things in order
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(READY)  ## What everything costs, each line beside its goal; writes docs/performance.md (PARTS="suite many" for some; "ranking" takes minutes)
	@$(BIN)/python -m tests.bench $(SUITE) $(PARTS)

bench-peer: $(READY) requirements-bench.lock  ## Install the runner that `make bench` runs beside ours (optional)
	@$(call install,-r requirements-bench.lock)

dask: $(READY) requirements-dask.lock  ## Install what `--scheduler dask://HOST:PORT` takes (optional)
	@$(call install,-r requirements-dask.lock)

mutants: $(READY)  ## Take out each guard, task transition and signal once; which test notices (ARGS="hardened" for some)
	@$(BIN)/python -m tests.mutation $(ARGS)

explore: $(READY)  ## Random examples other than those of `make test`, for ten minutes (ARGS="30 tests/evals/routes": minutes, paths)
	@$(BIN)/python -m tests.explore $(ARGS)

chaos: $(READY)  ## Kills, mutations, ways to an undeserved green: minutes (PARTS="kills mutations greens" for some; an unknown part lists all)
	@$(BIN)/python -m tests.chaos $(PARTS) $(ARGS)

lock: $(READY)  ## Write the lock files again from pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --extra dev $(LOCK) --output-file requirements.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-llm.in $(LOCK) --output-file requirements-llm.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-studio.in $(LOCK) $$(sed -nE '/^protobuf==/d; s/^([a-z0-9-]+)==.*/--no-emit-package \1/p' requirements.lock) \
		--output-file requirements-studio.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-bench.in $(LOCK) --output-file requirements-bench.lock $(ARGS)
	@$(BIN)/uv pip compile requirements-dask.in $(LOCK) --output-file requirements-dask.lock $(ARGS)

# For every system and Python at once; no address of a registry, no path of this machine.
LOCK = --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

clean:  ## Remove caches and reports; .venv, models and recordings stay
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build
	@find reports -mindepth 1 ! -name .gitkeep -delete 2>/dev/null || true
	@find evals triage tests -name __pycache__ -type d -prune -exec rm -rf {} +
