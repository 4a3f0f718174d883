# Two commands do all the set-up: `make demo` and `make test`. The program lands at build/bin/hearth.
BUILD := build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: deps build demo test test-onednn3 test-asan test-tsan bench install format lint clean

build: deps
	cmake --preset release -DHEARTH_TESTS=OFF >/dev/null
	cmake --build $(BUILD) -j $(JOBS) --target hearth

deps:
	@scripts/install_deps

demo: build
	@demo/run $(BUILD)/bin/hearth

test: deps
	cmake --preset release -DHEARTH_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS)
	scripts/run_tests $(BUILD)

# The file that calls oneDNN also compiles with its version 3.
test-onednn3: deps
	scripts/test_onednn3

test-asan test-tsan: test-%: deps
	cmake --preset $*
	cmake --build build-$* -j $(JOBS)
	scripts/run_tests build-$* -E 'apps|verify'

bench: build
	$(BUILD)/bin/hearth env

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

format:
	git ls-files '*.cc' '*.h' | xargs clang-format -i

lint: deps
	cmake --preset release -DHEARTH_TESTS=ON
	git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
	git ls-files 'hearth/*.cc' | xargs -P $(JOBS) -n 4 clang-tidy -p $(BUILD) --quiet

clean:
	rm -rf $(BUILD) build-*
