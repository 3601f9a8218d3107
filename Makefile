# Thin front of the CMake build: every target is one command you could type yourself.
#   make            build the library and the command (build/)
#   make test       all tests          make demo     the main job on bundled data
#   make python     the Python package in build/python-env, and its demo (docs/python.md)
#   make asan       all tests under address and undefined-behaviour sanitizers
#   make clang      all tests with clang, warnings as errors
#   make ci         what a change must pass: all tests; with clang and the sanitizers, and without the
#                   optional parts, the quick ones
#   make leaks      of make ci the part with clang and the sanitizers, memory that is lost among what they find
#   make faults     every allocation, open, write, fsync, rename and close of 30 commands fails once (docs/reliability.md)
#   make abuse      400 data sets that numbers go wrong on: a certified answer or a clear refusal?
#   make kills      500 times kill -9, and on to the same end
#   make fuzz       every reader by libFuzzer, 10 million executions each (EXECUTIONS=, TARGETS=; tests/fuzz/run)
#   make soak       eight processes at once for MINUTES=60: same bits, memory flat
#   make valgrind   readers, models and a training under valgrind; make tsan: what has threads under the thread sanitizer
#   make analyze    cppcheck, gcc -fanalyzer and clang-tidy
#   make mutants    do the tests notice? (tests/mutants)
#   make corpus     2,500 problems, a fifth of them badly placed: is a claim of training ever refuted?
#   make bench      benchmarks (bench/README.md)
#   make install    PREFIX=/usr/local, DESTDIR as usual
#   make deb        Debian packages, in build/packages
#   make format / format-check / tidy
# Each of test, demo and bench first lets ./bootstrap install what is missing.

PREFIX ?= /usr/local
BUILD  ?= build
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
C_FILES = $(shell git ls-files '*.c' '*.h')

.PHONY: all setup build test demo python asan clang ci leaks mutants faults abuse kills fuzz soak valgrind tsan analyze corpus \
  bench install deb format format-check tidy clean

all: build

setup:
	@./bootstrap setup

build: setup
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS) >$(BUILD)-configure.log 2>&1 \
	  || { cat $(BUILD)-configure.log; exit 1; }
	@rm -f $(BUILD)-configure.log
	@cmake --build $(BUILD) -j $(JOBS) -- --no-print-directory

test: build
	@tests/run $(BUILD)

demo: build
	@examples/demo.sh $(BUILD)

python: build
	@bindings/python/demo.sh $(BUILD)

asan:
	@$(MAKE) --no-print-directory test BUILD=build-asan \
	  CMAKE_FLAGS="-DCMAKE_BUILD_TYPE=Debug -DBDML_SANITIZE=ON -DBDML_WERROR=ON"

clang:
	@$(MAKE) --no-print-directory test BUILD=build-clang \
	  CMAKE_FLAGS="-DCMAKE_C_COMPILER=clang -DBDML_WERROR=ON"

ci: test
	@$(MAKE) --no-print-directory leaks
	@$(MAKE) --no-print-directory build BUILD=build-small CMAKE_FLAGS="-DBDML_WITH_MATIO=OFF \
	  -DBDML_WITH_ZIP=OFF -DBDML_BLAS=Generic -DCMAKE_C_FLAGS_RELEASE=-O1 -DBDML_WERROR=ON"
	@tests/run build-small --quick

leaks:
	@$(MAKE) --no-print-directory build BUILD=build-ci CMAKE_FLAGS="-DCMAKE_C_COMPILER=clang \
	  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DBDML_SANITIZE=ON -DBDML_WERROR=ON"
	@tests/run build-ci --quick

mutants: build
	@tests/mutants

faults: build
	@tests/faults/faults.py $(BUILD)/cli/bdml $(BUILD)/tests/faults/libfail_alloc.so --whole

abuse: build
	@tests/abuse.py $(BUILD)/cli/bdml 400

kills: build
	@tests/kills.py $(BUILD)/cli/bdml data 500

# clang with libFuzzer, and the sources of jansson, libzip and matio where Debian's are to be had (docs/reliability.md).
fuzz: setup
	@tests/fuzz/libraries build-fuzz/libraries
	@$(MAKE) --no-print-directory build BUILD=build-fuzz CMAKE_FLAGS="-DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=None \
	  '-DCMAKE_C_FLAGS=-O2 -g1' -DBDML_SANITIZE=ON -DBDML_FUZZ=ON -DBDML_BUILD_TESTS=OFF \
	  -DCMAKE_PREFIX_PATH=$(CURDIR)/build-fuzz/libraries/usr"
	@tests/fuzz/run build-fuzz $(or $(EXECUTIONS),10000000) $(TARGETS)

soak: build
	@tests/load.sh $(BUILD)/tests/soak data 8 $$((60 * $(or $(MINUTES),60)))

valgrind: build
	@tests/tools/valgrind $(BUILD)

tsan:
	@$(MAKE) --no-print-directory build BUILD=build-tsan CMAKE_FLAGS="-DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=None \
	  '-DCMAKE_C_FLAGS=-O1 -g1 -fsanitize=thread' -DBDML_HARDEN=OFF -DBDML_MPI=OFF"
	@tests/tools/tsan build-tsan

analyze: build
	@tests/tools/analyze $(BUILD)

corpus: build
	@tests/claims_corpus.py $(BUILD)/cli/bdml $(BUILD)/check/bdml-check 2000 500 50

bench:
	@$(MAKE) --no-print-directory build BUILD=build-bench CMAKE_FLAGS="-DBDML_BUILD_BENCH=ON"
	@bench/run build-bench

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@cmake/after-install "$(PREFIX)" "$(DESTDIR)"

# Debian packages in $(BUILD)/packages: libbdml0, libbdml-dev, bdml.
deb: build
	@cmake/make-deb $(BUILD)

format:
	clang-format -i $(C_FILES)

format-check:
	@clang-format --dry-run --Werror $(C_FILES)

tidy: build
	@git ls-files 'src/*.c' 'studies/*.c' 'cli/*.c' 'check/*.c' 'tests/*.c' | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p $(BUILD)

clean:
	rm -rf build build-asan build-clang build-ci build-small build-bench build-mutants build-fuzz build-tsan
