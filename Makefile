# What people do with this checkout. Every target makes its own set-up; `make` alone prints this list.
.POSIX:
.PHONY: help setup demo quick test test-browser test-nightly test-seeds lint coverage digests calibration bench fuzz-language clean

BIN = .venv/bin

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile

setup: .venv/installed ## Make .venv with the tested versions, and compile what the suites use; does nothing when nothing changed

# The first Python that is new enough; 3.11 first, for it is the one that the lock was tested with.
.venv/installed: requirements.lock setup.cfg pyproject.toml
	@for python in python3.11 python3.12 python3.13 python3.14 python3 none; do \
	    $$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && break; \
	done; \
	if [ $$python = none ]; then echo 'qospec needs Python 3.11 or later, with its venv module' >&2; exit 1; fi; \
	$$python -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/qos warm testcases/suites -j 2
	@touch $@

demo: setup ## Run the acceptance suites of the ATM encryptor and write their report
	$(BIN)/qos run testcases/suites/eantc -j 2

# Those of commands and reports start processes.
quick: setup ## Run the quick tests of units and language, with few examples: for while you work
	$(BIN)/python -m pytest testcases/unit testcases/language -m 'not slow' --hypothesis-profile quick \
	    --ignore testcases/unit/cli --ignore testcases/unit/report --numprocesses 2 --dist worksteal

test: setup ## Run all tests
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test-browser: setup ## Read reports as Chromium shows and prints them; needs the package chromium and the extra browser
	@command -v chromium > /dev/null || { echo 'test-browser needs Chromium: apt-get install chromium' >&2; exit 1; }
	@$(BIN)/python -c 'import axe_playwright_python, playwright, pypdf' 2> /dev/null || \
	    { echo "test-browser needs the extra: $(BIN)/pip install --editable '.[browser]'" >&2; exit 1; }
	$(BIN)/python -m pytest testcases/browser

test-nightly: test-seeds ## Run the suites at ten seeds; compare with books and properties on up to 2,000 drawn examples
	$(BIN)/python -m pytest testcases/unit/elements testcases/unit/dropping testcases/unit/engine testcases/unit/metrics \
	    testcases/unit/traffic testcases/properties --hypothesis-profile nightly --numprocesses 2 --dist worksteal

test-seeds: setup ## Run each suite at ten seeds: the verdicts must be the same
	$(BIN)/python -m pytest testcases/suites --seeds=10 --numprocesses 2 --dist worksteal

lint: setup ## Check format, rules, types and imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Kernels run as the Python that they are written in, for compiled code shows no lines; slow tests
# would then be very slow, and reach little that the others do not.
coverage: setup ## Measure how much of the package the tests reach
	$(BIN)/coverage erase
	QOS_KERNELS=python $(BIN)/coverage run -m pytest testcases/unit testcases/language \
	    -m 'not slow' --hypothesis-profile coverage --numprocesses 2 --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: setup ## Measure the engine against C in the same run
	$(BIN)/python benchmarks/run.py w1 w2 w3

digests: setup ## Note anew what the suites give: for changes of results that are on purpose
	$(BIN)/qos run testcases/suites -j 2 --json | $(BIN)/python testcases/digests.py

calibration: setup ## Print how often criteria with confidence are wrong about known queues
	$(BIN)/python testcases/calibration/table.py

SECONDS = 120

fuzz-language: setup ## Feed spoilt files to the reader and the checker for SECONDS; keep what breaks them
	$(BIN)/python testcases/fuzz/language.py --seconds $(SECONDS)

clean: ## Remove .venv, builds and caches; records stay
	rm -rf .venv build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf interpreter/qospec.egg-info
	find interpreter testcases -name __pycache__ -type d -prune -exec rm -rf {} +
