# Needs GNU make, bash, git and Python 3.11 or newer with venv; `make setup` sees to all the rest.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Without its files of bytecode Python would compile every package at each start, which costs a second.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
# Which OpenCL runtime `make run` measures on; empty: the system's and those installed in .runtimes/.
RUNTIME ?=
# Options of every program of `make run`: fewer repetitions than their own, each of which is checked, and fewer
# still where a machine takes long for one.
RUN_OPTIONS ?= -- --repetitions 5 --max-time 3
# Where `make install` puts programs, kernels, systems and the command.
PREFIX ?= /usr/local
# Further options of `make bench`.
BENCH_OPTIONS ?=
# --each: clang-tidy looks at each source by itself, which takes three times as long and finds missing includes.
TIDY_OPTIONS ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Many a test waits for what must not come.
TESTERS := $(shell echo $$(($(JOBS) + 2)))

FABRICMARK := .venv/bin/fabricmark
LOGS := build/logs
# CMake and Ninja may come from PyPI. .venv is not put before everything: the set-up that can remake it must not
# run on its Python.
IN_VENV := PATH="$(CURDIR)/.venv/bin:$$PATH"
# Tests run beside whatever else the machine does.
SHORT_SLICES := .venv/bin/python tools/short_slices.py
# Where only .runtimes/ offers OpenCL, this points the loader there.
WITH_OPENCL := eval "$$("$(PYTHON)" tools/setup.py --environment)"

CXX_FILES := find $(wildcard src tests bench kernels docs rtl) -type f \
    \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cl' -o -name '*.h' \) -print0

# Not a rule with a target: make would look for the file before the set-up may have removed it.
configure = [ build/$(1)/build.ninja -nt CMakePresets.json ] || $(IN_VENV) cmake --preset $(1)

# The line each runner ends with, so that a reader finds the verdicts at the end, whatever came in between.
define ctest_closing_line
grep -hE '[0-9]+% tests passed' $(1) | tail -n 1 || echo "ctest ended without a verdict; see $(1)"
endef
define pytest_closing_line
grep -hE '(passed|failed|error|no tests ran).* in [0-9.]+s' $(1) | tail -n 1 || echo "pytest ended without a verdict; see $(1)"
endef

.PHONY: help setup setup-build build programs first-programs first-table run install wheel bundle container debug-programs test test-full test-rtl test-rtl-short test-rtl-full bench docs format lint sanitize clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

# Called by the targets below; quick and without network when nothing has changed.
setup:
	@"$(PYTHON)" tools/setup.py

# What compiling needs: Debian's packages, or .venv where CMake and Ninja come from there.
setup-build:
	@"$(PYTHON)" tools/setup.py --build-only

setup-also-%:
	@"$(PYTHON)" tools/setup.py --also $*

build: setup  ## compile everything into build/release
	@$(call configure,release); $(IN_VENV) cmake --build --preset release

# All that `make run` needs: tests and the peers of `make bench` take as long again to compile.
programs: setup
	@$(call configure,release); $(IN_VENV) cmake --build --preset release --target programs

# On a fresh machine a table of STREAM comes before the other programs are compiled; its results are not kept.
# Its programs are compiled while pip waits for the network.
FIRST := build/first
first-programs:
	@$(call configure,release); $(IN_VENV) cmake --build --preset release --target fm_stream fm_calibrate
first-table:
	@if [ ! -e build/release/bin/fm_stream ]; then \
	    $(MAKE) setup-build; $(MAKE) -j2 setup first-programs; \
	    echo "run: a first table; the other programs are compiled after it"; \
	    $(FABRICMARK) run stream $(if $(RUNTIME),--runtime $(RUNTIME)) --output $(FIRST) $(RUN_OPTIONS) || true; \
	    rm -rf $(FIRST); \
	fi

run:  ## measure every device found, alone and on 2 ranks, and print the report (RUNTIME=system|intel-cpu|fpga-emulator|sycl|all)
	@$(MAKE) first-table
	@$(MAKE) programs
	@FABRICMARK="$(FABRICMARK)" RUNTIME="$(RUNTIME)" RUN_OPTIONS="$(RUN_OPTIONS)" LOGS="$(LOGS)" sh tools/run.sh

# What a debugger needs: each source by itself, with nothing optimised away. Nobody else would see that it does not build.
debug-programs: setup
	@$(call configure,debug); $(IN_VENV) cmake --build --preset debug --target programs

# pytest's workers find the rewritten test files in the cache of bytecode, instead of each making them.
test: setup-also-dev build  ## unit tests and Python tests
test-full: setup-also-full setup-also-bundle build debug-programs  ## the same with the tests that take long, and the programs for a debugger
test: selection := not full
test-full: selection := full or not full
test test-full:
	@$(WITH_OPENCL); mkdir -p $(LOGS); status=0; \
	{ .venv/bin/python -m pytest tests/python --collect-only --quiet >/dev/null 2>&1 || true; } & \
	$(IN_VENV) $(SHORT_SLICES) ctest --test-dir build/release -j $(TESTERS) --output-on-failure 2>&1 | tee $(LOGS)/ctest.log || status=1; \
	$(SHORT_SLICES) .venv/bin/python -m pytest tests/python -n $(TESTERS) --dist loadfile --no-loadscope-reorder --durations 15 -m "$(selection)" 2>&1 | tee $(LOGS)/pytest.log || status=1; \
	echo "not among these: the RTL (make test-rtl)"; \
	echo; $(call ctest_closing_line,$(LOGS)/ctest.log); $(call pytest_closing_line,$(LOGS)/pytest.log); \
	exit $$status

test-rtl: setup-also-rtl  ## the RTL of credit link and compression: beside their models, proofs, reference points, resources (Verilator, yosys, z3)
	@$(call configure,release); $(IN_VENV) cmake --build --preset release --target fm_lbm  # makes cells to be compressed
	@$(WITH_OPENCL); .venv/bin/python rtl/tests/run.py --jobs $(JOBS)

# For machines that have Verilator and yosys; .ci/run calls it there.
test-rtl-short: setup  ## of these what takes a minute: lint, reference points, 100 random links and the planted faults
	@.venv/bin/python rtl/tests/run.py --jobs $(JOBS) --only sources --only cosimulation --only reference_points --only codec --runs 100

test-rtl-full: setup-also-rtl  ## the same with deeper proofs, and 10 000 random links of both and of the model alone
	@$(call configure,release); $(IN_VENV) cmake --build --preset release --target credit_link_tests fm_lbm
	@$(WITH_OPENCL); status=0; FABRICMARK_CREDIT_LINK_RUNS=10000 build/release/bin/credit_link_tests --gtest_brief=1 || status=1; \
	.venv/bin/python rtl/tests/run.py --jobs $(JOBS) --full --runs 10000 || status=1; \
	exit $$status

install: programs  ## programs, kernels, systems and the command, below PREFIX
	@mkdir -p $(LOGS); $(IN_VENV) cmake --install build/release --prefix "$(abspath $(PREFIX))" >$(LOGS)/install.log || { cat $(LOGS)/install.log; exit 1; }; \
	tail -n 1 $(LOGS)/install.log

wheel: setup  ## all that predicts as a Python package with nothing to compile (build/wheel)
	@$(call configure,release); $(IN_VENV) cmake --build --preset release --target fabricmark-describe
	@.venv/bin/python packaging/wheel/fabricmark_wheel.py

# What is not PoCL's of LLVM stays out where LLVM's archives are there, which the set-up gets.
bundle: setup-also-bundle programs  ## all of it, with PoCL, Open MPI and Python, for another x86-64 Linux without network and root (build/bundle)
	@.venv/bin/python packaging/bundle/fabricmark_bundle.py

# podman and buildah work without root; docker takes the same words.
CONTAINER_BUILDER ?= $(firstword $(shell command -v podman buildah docker 2>/dev/null))
container:  ## an image of Debian 12 with programs, command and PoCL, by podman, buildah or docker
	@if [ -z "$(CONTAINER_BUILDER)" ]; then echo "container: no podman, buildah or docker; install one" >&2; exit 3; fi; \
	"$(CONTAINER_BUILDER)" build -t fabricmark -f packaging/container/Containerfile .

bench: setup-also-bench build  ## this project's programs against plain references, interleaved (BENCH_OPTIONS=...)
	@$(WITH_OPENCL); .venv/bin/python bench/run.py $(BENCH_OPTIONS)

# Any warning is an error; mkdocs-material's own notice on its successor is none.
docs: setup-also-docs  ## the pages of docs/ as a site with search, for a browser without a network (build/site/index.html)
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet; echo "docs: build/site/index.html"

format: setup-also-dev  ## rewrite C++, OpenCL and Python sources in the project's format
	@$(CXX_FILES) | $(IN_VENV) xargs -0 -r clang-format -i
	@.venv/bin/ruff check --quiet --fix . || true
	@.venv/bin/ruff format .

# The preset's targets write the headers that clang-tidy needs and no checkout has. It begins first: the others have one
# core each in turn.
lint: setup-also-dev  ## formats, ruff, mypy, clang-tidy and what Vitis HLS refuses; changes nothing
	@$(call configure,lint); mkdir -p $(LOGS); status=0; \
	{ $(IN_VENV) cmake --build --preset lint && $(IN_VENV) python3 tools/tidy.py -p build/lint -j $(JOBS) $(TIDY_OPTIONS); } >$(LOGS)/tidy.log 2>&1 & \
	tidy=$$!; trap 'kill $$tidy 2>/dev/null || true' EXIT; \
	echo "lint: clang-format"; $(CXX_FILES) | $(IN_VENV) xargs -0 -r clang-format --dry-run --Werror || status=1; \
	echo "lint: ruff"; .venv/bin/ruff check . || status=1; .venv/bin/ruff format --check . || status=1; \
	echo "lint: mypy"; .venv/bin/mypy || status=1; \
	echo "lint: dataflow kernels"; .venv/bin/python tools/hls_lint.py || status=1; \
	echo "lint: clang-tidy"; wait $$tidy || status=1; cat $(LOGS)/tidy.log; \
	exit $$status

sanitize: setup  ## unit tests under the address, undefined-behaviour and thread sanitizers
	@$(WITH_OPENCL); mkdir -p $(LOGS); status=0; \
	for preset in asan-ubsan tsan; do \
	    { $(call configure,$$preset); } && $(IN_VENV) cmake --build --preset $$preset \
	        || { status=1; continue; }; \
	    $(IN_VENV) $(SHORT_SLICES) ctest --preset $$preset -j $(TESTERS) --output-on-failure 2>&1 | tee $(LOGS)/ctest-$$preset.log || status=1; \
	done; \
	echo; for preset in asan-ubsan tsan; do $(call ctest_closing_line,$(LOGS)/ctest-$$preset.log); done; \
	exit $$status

clean:  ## remove what was built; .venv, .runtimes and results stay
	@rm -rf build .pytest_cache .ruff_cache
