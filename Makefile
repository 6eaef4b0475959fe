# The two commands to know: `make run` and `make test`. The build itself is CMake (CMakePresets.json).
.PHONY: run build test test-programs sanitize lint format fuzz bench clean

BUILD := build/release
HOIST := $(BUILD)/bin/hoist

# Installs what is missing, builds, compiles a C program to WebAssembly and runs it.
run:
	@scripts/setup/install build
	@scripts/setup/build release hoist_cli
	@scripts/programs/build-example
	@echo '$$ $(HOIST) run build/programs/orbit.wasm 12'
	@$(HOIST) run build/programs/orbit.wasm 12

build:
	@scripts/setup/install build
	@scripts/setup/build release

# Everything that decides whether a change is good: layers, unit tests, filetests, suites, programs.
test:
	@scripts/setup/install build test profile
	@scripts/setup/build release
	@scripts/test/all

# Real programs from Debian's sources (Lua, bzip2, …), compared with their native builds.
test-programs: build
	@scripts/programs/test

# The same tests under AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize:
	@scripts/setup/install build test
	@scripts/test/sanitize

lint:
	@scripts/setup/install build test
	@scripts/lint/all

format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-22 -i

# Ten minutes for each fuzz target; SECONDS_EACH=60 for a short run.
fuzz:
	@scripts/setup/install build test
	@scripts/test/fuzz

bench: build
	@scripts/setup/install bench
	@bench/run

clean:
	rm -rf build
