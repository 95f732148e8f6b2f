# make demo   installs, then runs the demonstration           make check  lint, types, imports, docs
# make test   installs, then runs the tests                   make bench  benchmark ratios, as JSON
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

# Tests of one file run in one process, which has its own PostgreSQL and Kafka. tests/suite/apart.py
# names the files whose tests share nothing.
SIDE_BY_SIDE := --dist loadfile

# `make test SEED=21a2cae8` shuffles the files and the tests in each; without a seed they keep their
# order. Shuffled files start in shuffled order; otherwise files with the most tests start first. The
# long run always starts with the files that tests/suite/apart.py names as the longest.
ORDER := $(if $(SEED),--random-order-seed=$(SEED))
ANY_FILE_FIRST := $(if $(SEED),--no-loadscope-reorder)

# Bytecode is kept whatever the caller's shell says: without it each process of tests, and each that
# forks commands, compiles 2,000 files again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long mutants check bench docs site wheel lock sbom digests secrets clean

demo: $(VENV)/.installed
	$(BIN)/round-ledger demo

test: $(VENV)/.installed-dev
	$(BIN)/pytest -m "not long and not exhaustive" -n 2 $(SIDE_BY_SIDE) $(ORDER) $(ANY_FILE_FIRST)

test-long: $(VENV)/.installed-dev
	$(BIN)/pytest -m long -n 3 $(SIDE_BY_SIDE) $(ORDER) --no-loadscope-reorder $(if $(SHARE),--share=$(SHARE))  # long tests idle a quarter of the time

mutants: $(VENV)/.installed-dev
	$(BIN)/pytest -m exhaustive

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m replay.docs --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

# The documentation site: `serve` shows it under /docs/, and it opens from disk:
# replay/web/site/index.html.
site: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

wheel: site
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

docs: $(VENV)/.installed-dev
	$(BIN)/python -m ledger.facts.schemas
	$(BIN)/python -m replay.docs

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name one: make PYTHON=/path/to/python3 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Everything is installed as it is locked, by hash; then the project, which brings nothing itself.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
LOCKED := $(PIP) --require-hashes -r requirements/build.txt
PROJECT := $(PIP) --no-build-isolation -e .
LOCKS := $(wildcard requirements/*.txt)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml $(LOCKS)
	$(LOCKED) -r requirements/video.txt
	$(PROJECT)
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml $(LOCKS)
	$(LOCKED) -r requirements/dev.txt
	$(PROJECT)
	touch $@ $(VENV)/.installed

# Needs uv. Run it after a change of pyproject.toml or constraints.txt.
lock: $(VENV)/.installed-dev
	$(BIN)/python requirements/lock.py

sbom: $(VENV)/bin/python
	$(BIN)/python requirements/sbom.py dist

digests:
	docker compose build --pull
	docker image inspect --format '{{.Id}}  round-ledger:local' round-ledger:local > dist/images.txt
	docker compose pull
	docker compose config --images | sort -u | grep -v ':local$$' \
	| xargs -n 1 docker image inspect --format '{{index .RepoDigests 0}}' >> dist/images.txt
	cd dist && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum > SHA256SUMS

PASSWORDS := $(addprefix .secrets/,$(addsuffix _password,postgres web views alerts relay seal backup ingest report))

secrets: $(PASSWORDS) settings/env

$(PASSWORDS):
	mkdir -p .secrets
	umask 077 && $(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(32))' > $@
	chmod 644 $@  # other users read it in the containers; the folder's mode keeps the host's users out
	chmod 700 .secrets

settings/env:
	mkdir -p settings
	cp infra/docker/env.example $@

clean:
	rm -rf $(VENV) build ./*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis demo
