# The front door. Everything is built by CMake below build/; what is missing is installed by tools/setup.sh.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
ABUT = build/release/abut

.PHONY: help build demo live test test-asan test-debug test-tsan test-stories test-python test-python-asan test-fuzz test-processors hashes test-geometry-long wheel bench bench-quick bench-python paper format lint install deb clean

help:
	@echo "make demo      simulate a scene worth looking at and write out/demo.html"
	@echo "make live      the same scenes to touch, in a browser page: out/live/index.html"
	@echo "make test      build and run every test"
	@echo "make paper     reproduce the papers' experiments: out/paper/index.html"
	@echo "make bench     abut beside its peers: out/bench/index.html"
	@echo "make build     the library and the program: $(ABUT)"
	@echo "make install   library, headers, program, abut.pc, CMake package (PREFIX=$(PREFIX))"
	@echo "make deb       Debian packages: out/deb"
	@echo "make wheel     the Python package as a wheel that needs nothing installed: out/wheel"
	@echo "make test-stories | test-python | test-python-asan | bench-python | test-asan | test-debug | test-tsan | test-fuzz | test-processors | hashes | test-geometry-long | bench-quick | format | lint | clean"

build:
	@tools/setup.sh build test
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)

demo:
	@tools/setup.sh build test web live
	@$(MAKE) --no-print-directory build
	@tools/demo.sh $(ABUT)

live:
	@tools/setup.sh build test live
	@$(MAKE) --no-print-directory build
	@tools/gallery.py $(ABUT) out/live

test:
	@tools/setup.sh build test web live python mpi
	@$(MAKE) --no-print-directory build
	@ctest --preset release -j $(JOBS)

# One build is three: by clang with warnings as errors, with assertions and the checks of src/validate.c, under the sanitizers.
test-asan:
	@tools/setup.sh build test mpi
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

# With assertions and the checks of src/validate.c; -Og, since -O0 takes four times as long. What takes minutes is left out.
SLOW = test_pile_seeds|test_prism|test_touch_random|test_touch_round|test_overlap|test_stories|test_patch_newton|python|web|live|sweep|paper|robots
test-debug:
	@tools/setup.sh build test
	@cmake --preset debug >/dev/null
	@cmake --build --preset debug -j $(JOBS)
	@ctest --preset debug -j $(JOBS) -E '$(SLOW)'

test-stories:
	@tools/setup.sh build test
	@$(MAKE) --no-print-directory build
	@/usr/bin/python3 test/stories/motion_stories.py $(ABUT) --jobs $(JOBS)

test-python:
	@tools/setup.sh build test web python
	@$(MAKE) --no-print-directory build
	@python/tests/run.sh $(ABUT)

test-python-asan:
	@tools/setup.sh build python
	@python/tests/run.sh --asan

wheel:
	@tools/setup.sh build web python
	@python/wheel.sh out/wheel $(PYTHON)

# Only what uses threads: everything else has one.
THREADED = test_step test_patch_threads test_allocations
test-tsan:
	@tools/setup.sh build test
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan -j $(JOBS) --target $(THREADED)
	@ctest --preset tsan -R '^($(subst $() $(),|,$(THREADED)))$$'

# EXECUTIONS=10000000 runs as many inputs as that, all targets together, however long it takes; SEED=1 the same ones each time.
SECONDS_EACH ?= 30
test-fuzz:
	@tools/setup.sh build test
	@EXECUTIONS=$(EXECUTIONS) SEED=$(SEED) JOBS=$(JOBS) test/fuzz/run.sh $(SECONDS_EACH)

# The same bits by gcc, by clang, on a processor without AVX2 and on ARM: some minutes.
test-processors:
	@tools/setup.sh build processors
	@$(MAKE) --no-print-directory build
	@JOBS=$(JOBS) test/trust/processors.sh $(ABUT)

# The list that the test trust_hashes compares with, after a change that is meant to move bodies otherwise.
hashes: build
	@test/trust/test_processors.py $(ABUT) --hashes test/trust/hashes.txt --renew

test-geometry-long: build
	@build/release/test/geometry_long

bench:
	@tools/setup.sh build test bench
	@$(MAKE) --no-print-directory build
	@bench/run.sh

bench-quick:
	@tools/setup.sh build test bench
	@$(MAKE) --no-print-directory build
	@bench/quick.sh

bench-python:
	@tools/setup.sh build test python
	@$(MAKE) --no-print-directory build
	@python/bench/run.sh

paper:
	@tools/setup.sh build test paper
	@$(MAKE) --no-print-directory build
	@$(ABUT) paper --out out/paper

SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp')
format:
	@tools/setup.sh lint
	@clang-format -i $(SOURCES)

# clang-tidy needs to know how files are compiled, not that they are.
lint:
	@tools/setup.sh build test lint
	@clang-format --dry-run --Werror $(SOURCES)
	@tools/check-layers.sh
	@tools/check-names.py
	@cmake --preset asan >/dev/null
	@tools/check-recursion.py build/asan
	@run-clang-tidy -quiet -j $(JOBS) -p build/asan 'src/.*\.c$$' >build/asan/tidy.log 2>&1 || { grep -E '(warning|error):' build/asan/tidy.log; exit 1; }

# A build of its own: library, program and page, without what only tests, experiments and benchmarks need.
install:
	@tools/setup.sh build
	@cmake --preset install >/dev/null
	@cmake --build --preset install -j $(JOBS)
	@cmake --install build/install --prefix $(PREFIX)

# Debian packages in out/deb, from what is committed; some minutes, so once a night is enough.
deb:
	@tools/setup.sh build mpi deb
	@rm -rf build/deb && mkdir -p build/deb/abut out/deb
	@git archive HEAD | tar -x -C build/deb/abut
	@cd build/deb/abut && dpkg-buildpackage -us -uc -b -j$(JOBS) >../log.txt 2>&1 || { tail -n 30 ../log.txt; exit 1; }
	@mv build/deb/*.deb out/deb && ls out/deb

clean:
	@rm -rf build out
