# `make demo` trains a model on this machine, `make test` checks the project. Both set up everything they need in .venv.
VENV ?= .venv
RUN ?= runs/demo
BIN := $(VENV)/bin
READY := $(VENV)/.ready
VENV_OPENRLHF ?= .venv-openrlhf
READY_OPENRLHF := $(VENV_OPENRLHF)/.ready
export OMP_NUM_THREADS ?= 2

.PHONY: demo test test-openrlhf lint format setup clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    train SmolLM2-135M on the student persona, then plot (about 15 minutes on 2 cores)"
	@echo "make test    lint, type check and test"
	@echo "make test-openrlhf  train with OpenRLHF, Ray and vLLM on this CPU (4 GB to install, then about 20 minutes)"
	@echo "make lint    lint and type check only"
	@echo "make format  reformat and fix what can be fixed"
	@echo "make setup   only install"
	@echo "make clean   remove the virtual environment and caches (runs/ stays)"

$(READY): pyproject.toml .ci/setup
	./.ci/setup $(VENV)
	@touch $@

setup: $(READY)

# A demo that was interrupted goes on from its last checkpoint.
demo: $(READY)
	$(BIN)/claw train chat --config examples/student.toml --run $(RUN) $(if $(wildcard $(RUN)/store.sqlite),--resume)
	$(BIN)/claw plot $(RUN)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Stops the container engine that it started, whatever the tests say.
test: lint
	@./.ci/programs
	@engine=$$(./.ci/engine) && trap '[ -z "$$engine" ] || kill $$engine' EXIT && trap 'exit 130' INT TERM && \
	$(BIN)/python -m pytest

$(READY_OPENRLHF): pyproject.toml .ci/openrlhf
	./.ci/openrlhf $(VENV_OPENRLHF)
	@touch $@

test-openrlhf: $(READY_OPENRLHF)
	$(VENV_OPENRLHF)/bin/python -m pytest -m openrlhf tests/openrlhf tests/trainers/ray
	CLAW_TEST_VLLM_PYTHON=$(VENV_OPENRLHF)/bin/python $(VENV_OPENRLHF)/bin/python -m pytest tests/trainers/policies/engines/test_vllm_real.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
