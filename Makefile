# Targets for developers. Each target sets up what it needs; `make` alone prints the list.
.POSIX:
.PHONY: help setup demo quick test site test-browser test-nightly test-seeds test-versions kernel test-kernel lint lock coverage digests nothing calibration torture bench ratios fuzz-language mutation extension tree-sitter dist clean

BIN = .venv/bin
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check
CALIBRATE = PYTHONPATH=testcases $(BIN)/python testcases/calibration/table.py

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile

# The first Python that is new enough; 3.11 first, since the locks were tested with it. Modules are compiled here, since an
# environment may forbid Python to keep what it compiles at a start, and then each `qos check` takes twice as long. That
# takes one processor, and so does pip.
.venv/users: requirements-users.lock setup.cfg setup.py pyproject.toml
	@for python in python3.11 python3.12 python3.13 python3.14 python3 none; do \
	    $$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && break; \
	done; \
	if [ $$python = none ]; then echo 'qospec needs Python 3.11 or later, with its venv module' >&2; exit 1; fi; \
	$$python -m venv .venv
	$(BIN)/python -m compileall -q interpreter/qospec & compiling=$$!; \
	$(INSTALL) --require-hashes --requirement requirements-users.lock && \
	$(INSTALL) --no-deps --no-build-isolation --editable . || { kill $$compiling; exit 1; }; \
	wait $$compiling
	@touch $@

# The same versions and more, so nothing is installed twice, and kernels can be compiled beside that, which takes one
# processor.
.venv/developers: .venv/users requirements.lock
	$(BIN)/qos warm testcases/suites -j 2 & warming=$$!; \
	$(INSTALL) --require-hashes --requirement requirements.lock || { kill $$warming; exit 1; }; \
	wait $$warming
	@touch $@

setup: .venv/developers ## Create .venv with the tested versions, and compile what the suites use; does nothing if nothing changed

demo: .venv/users ## Run the acceptance suites of the ATM encryptor and write their report; installs no tools for developers
	$(BIN)/qos run testcases/suites/eantc -j 2

# Each test that takes less than a third of a second, but for those that start processes or run whole tests, as those of
# commands, reports, procedures and searches do: of its parameters the first and the last, of what it draws few examples.
# Two processes have half of the files each: workers of pytest-xdist would each collect all of them.
WHOLE = cli fuzz procedures report run shrink
QUICK = $(BIN)/python -m pytest testcases/unit testcases/language -m 'not slow' --hypothesis-profile quick --most 2 \
    $(WHOLE:%=--ignore testcases/unit/%)

quick: setup ## Run the quick unit and language tests on a sample of their cases, for use while you work
	@mkdir -p build; failed=0; \
	$(QUICK) --part 2/2 > build/quick.txt 2>&1 & other=$$!; \
	$(QUICK) --part 1/2 || failed=1; \
	wait $$other || failed=1; \
	cat build/quick.txt; exit $$failed

test: setup ## Run all tests
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

site: setup ## Build the documentation site, with reports of examples and suites; print where it begins
	$(BIN)/python docs/site/build.py

test-browser: setup ## Test reports in Chromium, on screen and printed; needs the package chromium and the extra browser
	@command -v chromium > /dev/null || { echo 'test-browser needs Chromium: apt-get install chromium' >&2; exit 1; }
	@$(BIN)/python -c 'import axe_playwright_python, playwright, pypdf' 2> /dev/null || \
	    { echo "test-browser needs the extra: $(BIN)/pip install --editable '.[browser]'" >&2; exit 1; }
	$(BIN)/python -m pytest testcases/browser

test-nightly: test-seeds coverage extension tree-sitter site ## Run suites at ten seeds, models and properties on more random examples, calibration, versions; build the site; measure coverage and speed
	$(BIN)/python -m pytest testcases/unit/calculus testcases/unit/check testcases/unit/ciphers testcases/unit/dropping \
	    testcases/unit/elements testcases/unit/engine testcases/unit/fuzz testcases/unit/judge testcases/unit/methods \
	    testcases/unit/metrics testcases/unit/protocol testcases/unit/record testcases/unit/report testcases/unit/search \
	    testcases/unit/shrink testcases/unit/traffic testcases/unit/voice testcases/unit/test_document.py \
	    testcases/unit/test_units.py testcases/unit/run/test_ndr.py testcases/unit/cli/test_schema.py \
	    testcases/unit/cli/test_phases.py testcases/language/test_help.py testcases/wrong_devices \
	    testcases/properties -m 'not nightly' --hypothesis-profile nightly --numprocesses 2 --dist worksteal
	$(BIN)/python -m pytest -m nightly --hypothesis-profile nightly --numprocesses 2 --dist worksteal
	$(BIN)/python testcases/drivers.py 20000
	$(CALIBRATE) --trials 200
	$(BIN)/python testcases/versions.py --all
	$(BIN)/python testcases/torture.py
	$(BIN)/python benchmarks/ratios.py
	$(BIN)/python benchmarks/peers/smoltcp.py
	$(BIN)/python benchmarks/peers/ns3.py
	$(MAKE) test-kernel

test-seeds: setup ## Run each suite at ten seeds: the verdicts must be the same
	$(BIN)/python -m pytest testcases/suites --seeds=10 --numprocesses 2 --dist worksteal

# Four minutes of one processor; the package of the kernel's source is fetched, and nothing is installed.
kernel: .venv/users ## Build a kernel of Linux in virtual time into the cache, for `qos run --on kernel-vt`; takes gcc, make, flex, bison, bc
	$(BIN)/python -m qospec.linux.build 2

test-kernel: setup ## Compare drawn specifications on the emulation and on that kernel, packet by packet, also by kernel-rt there; builds it if need be
	$(BIN)/python -m qospec.linux.build 2 --once
	$(BIN)/python testcases/agreement.py 200
	$(BIN)/python testcases/hosted.py
	$(BIN)/python testcases/elsewhere.py

test-versions: setup ## Run a short suite with the lowest versions that setup.cfg allows, and with the newest
	$(BIN)/python testcases/versions.py

lint: setup ## Check format, rules, types and imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Kernels run as plain Python, since a tracer sees no lines of compiled code. Slow tests would then be
# very slow, and reach little that the others do not; so would those that are marked `untraced`.
coverage: setup ## Measure the test coverage of the package
	$(BIN)/coverage erase
	QOS_KERNELS=python $(BIN)/coverage run -m pytest testcases/unit testcases/language \
	    -m 'not slow and not untraced' --hypothesis-profile quick --numprocesses 2 --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: setup ## Compare the speed of the engine with C in the same run
	$(BIN)/python benchmarks/run.py w1 frames w2 w3 both_ways ring echo

ratios: setup ## Record how fast engine and starts are beside peers, which test-nightly compares with, on an idle machine
	$(BIN)/python benchmarks/ratios.py --record

digests: setup ## Renew the digests of the suites' results, after an intended change of results
	$(BIN)/qos run testcases/suites -j 2 --again --json | $(BIN)/python testcases/digests.py

nothing: setup ## Renew docs/nothing.md, what a device that does nothing passes of each suite, and docs/covered.md, what suites cover
	PYTHONPATH=testcases $(BIN)/python testcases/wrong_devices/claims.py
	PYTHONPATH=testcases $(BIN)/python testcases/wrong_devices/covered.py

calibration: setup ## Print how often criteria with a confidence, hints and searches are wrong; fail if more often than they say
	$(CALIBRATE)

torture: setup ## Kill runs at random instants, fill their disks, flip bits of records: resumed runs must be the same, records refused
	$(BIN)/python testcases/torture.py

SECONDS = 120

fuzz-language: setup ## Feed damaged files to the parser and the checker for SECONDS; keep those that break them
	$(BIN)/python testcases/fuzz/language.py --seconds $(SECONDS)

mutation: setup ## Change the models one operator at a time; list the changes that no test notices (takes hours)
	$(BIN)/python testcases/mutation/run.py

VSCE = @vscode/vsce@3.9.2

extension: .venv/users ## Package the extension of VS Code as build/qospec.vsix; needs npm
	$(BIN)/python editors/grammar.py
	mkdir -p build
	cp LICENSE editors/vscode
	version=$$($(BIN)/python setup.py --version | sed 's/[+].*//; s/[.]dev.*//') && \
	    cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund && \
	    npx --yes $(VSCE) package $$version --no-git-tag-version --no-update-package-json \
	        --allow-missing-repository --out ../../build/qospec.vsix && \
	    cd ../.. && $(BIN)/python editors/extension.py build/qospec.vsix $$version

TREE_SITTER = build/tree-sitter-0.27.1

$(TREE_SITTER)/bin/tree-sitter:
	cargo install --quiet --locked --no-default-features --root $(TREE_SITTER) tree-sitter-cli@$(TREE_SITTER:build/tree-sitter-%=%)

tree-sitter: .venv/users $(TREE_SITTER)/bin/tree-sitter ## Build the tree-sitter grammar in build/grammar, and compare its trees with the parser's; needs cargo and cc
	rm -rf build/grammar
	$(BIN)/python editors/tree_sitter.py build/grammar
	cd build/grammar && ../../$(TREE_SITTER)/bin/tree-sitter generate src/grammar.json
	$(BIN)/python editors/tree_sitter.py build/grammar --compare $(TREE_SITTER)/bin/tree-sitter

# One version of each package for all systems and all Pythons. What is locked stays, unless UPGRADE
# is `--upgrade`, or `--upgrade-package NAME`.
LOCK = $(BIN)/uv pip compile setup.cfg --quiet --universal --python-version 3.11 --fork-strategy fewest \
    --generate-hashes --no-annotate --custom-compile-command 'make lock' $(UPGRADE) --extra build

lock: setup ## Renew the locks after a change of setup.cfg; UPGRADE=--upgrade takes the newest versions
	$(LOCK) --output-file requirements-users.lock
	$(LOCK) --extra fuzz --extra site --extra dev --constraint requirements-users.lock --output-file requirements.lock

dist: .venv/users ## Build the source distribution, and the wheel from it, in dist
	rm -rf dist
	$(BIN)/python -c 'from setuptools import build_meta; build_meta.build_sdist("dist")'
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz

clean: ## Remove .venv, builds and caches, but not records
	rm -rf .venv build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf interpreter/qospec.egg-info
	find interpreter testcases -name __pycache__ -type d -prune -exec rm -rf {} +
