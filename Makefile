# `make demo` and `make test` install what is missing and build. The program is build/bin/hearth.
BUILD := build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: deps deps-lint build demo report-pictures test test-goldens test-kill test-onednn3 test-guides test-peers test-tokenizers test-soak \
  test-asan test-tsan test-clang test-fuzz test-python test-wheel wheel deb static image package-test bench docs library install format \
  lint clean

build: deps
	cmake --preset release -DHEARTH_TESTS=OFF >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target hearth

deps:
	@scripts/install_deps

deps-lint:
	@scripts/install_deps clang-format clang-tidy libomp-dev

demo: build
	@demo/run $(BUILD)/bin/hearth

# Pictures of a run's report.html in headless Chromium, build/report_pictures.
report-pictures: build
	@scripts/install_deps chromium
	scripts/report_pictures $(BUILD)

test: deps
	@scripts/install_deps tmux
	@scripts/install_backends $(BUILD)
	cmake --preset release -DHEARTH_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS)
	scripts/run_tests $(BUILD)

# 20 steps of MiniLM on SQuAD, padded and packed, in fp32 and bf16, against transformers' Trainer: needs the real data and the
# second set of golden files. `make test` runs the packed trainings.
test-goldens: deps
	cmake --preset release -DHEARTH_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS) --target test_apps
	scripts/run_tests $(BUILD) -C long -R '^apps_goldens$$'

# Kills KILLS trainings at random moments and resumes them.
KILLS ?= 100
test-kill: build
	python3 tests/kill/kill.py $(BUILD) tests/fixtures/apps $(KILLS)

# Builds with oneDNN 3 and runs the tests of kernels, ops and verify.
test-onednn3: deps
	@scripts/install_deps python3-venv
	scripts/test_onednn3

# Files pass between Hearth and transformers 4.57 and 5, huggingface_hub and datasets, which are installed into the build
# folder (6 GB).
test-peers: build
	@scripts/install_deps python3-venv
	scripts/test_peers $(BUILD)

# Runs every command of docs/migrating.md, online and offline, against a server that stands in for the Hub.
test-guides: deps
	@scripts/install_backends $(BUILD)
	cmake --preset release -DHEARTH_TESTS=OFF >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target hearth
	scripts/test_guides $(BUILD)

# Tokenizers of every kind against Hugging Face's library, which is installed into the build folder.
test-tokenizers: deps
	@scripts/install_deps python3-venv
	scripts/test_tokenizers $(BUILD)

# Trains for half an hour, or SOAK_SECONDS, and fails if memory, descriptors, threads or files grow.
test-soak: build
	scripts/test_soak $(BUILD)/bin/hearth

# All tests, built with the address and undefined-behaviour sanitizers, with the thread sanitizer, or with clang.
test-asan test-tsan test-clang: test-%: deps
	@scripts/install_deps tmux clang libomp-dev
	@scripts/install_backends build-$*
	cmake --preset $*
	cmake --build build-$* -j $(JOBS)
	scripts/run_sanitized build-$*

# Fuzzes every reader of files for FUZZ_SECONDS each. `make test` replays the corpora alone.
FUZZ_SECONDS ?= 600
test-fuzz: deps
	@scripts/install_deps clang libclang-rt-14-dev libomp-dev
	cmake --preset fuzz
	cmake --build build-fuzz -j $(JOBS) --target fuzzers
	scripts/fuzz build-fuzz $(FUZZ_SECONDS)

# A wheel with the program, the Python module and their libraries, for PYTHON, in build/packages.
PYTHON ?= python3
wheel: deps
	@scripts/install_deps python3-dev python3-venv
	JOBS=$(JOBS) scripts/make_wheel $(BUILD) $(PYTHON)

# Installs the wheel into a virtual environment and runs tests/python.
test-python: wheel
	scripts/test_python $(BUILD) $(PYTHON)

# Tries the wheel in a root that has Debian's Python and nothing else.
test-wheel: wheel
	scripts/test_wheel $(BUILD)

bench: build
	$(BUILD)/bin/hearth env
	$(BUILD)/bin/hearth bench gemm
	$(BUILD)/bin/hearth bench ops
	$(BUILD)/bin/hearth bench train --dtype bf16

# The documentation as a site, build/docs/site/index.html, with the reference of the public headers in it.
docs: library
	@scripts/install_deps doxygen python3-venv
	scripts/build_docs $(BUILD)

# The program, the plug-ins and libhearth.
library: deps
	cmake --preset release -DHEARTH_TESTS=OFF >/dev/null
	cmake --build $(BUILD) -j $(JOBS)

install: library
	cmake --install $(BUILD) --prefix $(PREFIX)

# Packages, below build/packages: Debian packages, the program as one static file, and an image for containers.
# `make package-test` installs each that was built in a clean root and tries it, as root.
deb: library
	@scripts/install_deps dpkg-dev file
	rm -f $(BUILD)/packages/*.deb
	cd $(BUILD) && cpack --config CPackConfig.cmake >packages.log || { cat packages.log; exit 1; }
	@ls -l $(BUILD)/packages/*.deb

static: deps
	JOBS=$(JOBS) packaging/static $(BUILD)

image: deb
	packaging/image $(BUILD)

package-test:
	packaging/test $(BUILD)

format: deps-lint
	git ls-files '*.cc' '*.h' | xargs clang-format -i

lint: deps deps-lint
	cmake --preset release -DHEARTH_TESTS=ON
	git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
	git ls-files 'hearth/*.cc' | xargs -P $(JOBS) -n 4 clang-tidy -p $(BUILD) --quiet

clean:
	rm -rf $(BUILD) build-*
