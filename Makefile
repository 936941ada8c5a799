# membw: `make run` measures this node, `make test` proves that it does so rightly.
.POSIX:
.SUFFIXES:

# make run SYSTEM=ulysses, make run ARGS='-n stream'
SYSTEM =
ARGS =
ENV = . ./setup-env.sh
CDPATH =

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' Makefile | \
		while IFS='|' read -r what does; do printf '%-14s %s\n' "$$what" "$$does"; done

# without arguments: built by make, so that Spack comes with the first run that may use it
run: .always ## set up what is missing, measure this node, print the table and the verdict
	@export MEMBW_NEXT="$${SYSTEM:+--system $$SYSTEM} $$ARGS"; \
		if [ -n "$$SYSTEM$$ARGS" ]; then sh ci/setup.sh; else sh ci/setup.sh --no-spack; fi
	@$(ENV) && exec membw run $${SYSTEM:+--system "$$SYSTEM"} $(ARGS)

test: .always ## set up what is missing, lint, run all tests
	@bash ci/test.sh $(ARGS)

machines: .always ## the tests marked `night`: emulated machines, the bundle, Spack at length
	@sh ci/machines.sh $(ARGS)

mutants: .always ## which of the faults of ci/mutants.yaml the tests miss: for a night
	@sh ci/setup.sh --no-spack && sh ci/test-packages.sh
	@$(ENV) && exec python ci/mutants.py $(ARGS)

generated-mutants: .always ## of faults by rule a sample of the day: a score per room of verdicts
	@sh ci/setup.sh --no-spack && sh ci/test-packages.sh
	@$(ENV) && exec python ci/generated_mutants.py $(ARGS)

check: .always ## lint alone: ruff, clang-format, shellcheck, compiler warnings
	@sh ci/setup.sh && sh ci/test-packages.sh
	@$(ENV) && bash ci/check.sh $(ARGS)

setup: .always ## the set-up alone; looks again for tools and Spack that were missing
	@sh ci/setup.sh --retry

binaries: .always ## every preset that this machine's compilers can build, without Spack
	@sh ci/setup.sh --no-spack
	@$(ENV) && rows=$$(python -m membw.site.machine) && echo "$$rows" | { lacking=; \
		while read -r preset cc; do \
			$(MAKE) --no-print-directory -C src PRESET="$$preset" CC="$$cc" || \
				lacking="$$lacking $$preset"; \
		done; [ -z "$$lacking" ] || { echo "membw: not built:$$lacking" >&2; exit 1; }; }

install: .always ## the programs, without Python and Spack: PREFIX=/opt/membw, PRESET=gcc-o2
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' PRESET='$(PRESET)' PROGRAMS='$(PROGRAMS)' BLAS='$(BLAS)' \
		MAKE='$(MAKE)' sh ci/install.sh

man: .always ## man pages of membw and of its programs, into build/man
	@sh ci/setup.sh --no-spack
	@PREFIX=build/man/programs PRESET='$(PRESET)' MAKE='$(MAKE)' sh ci/install.sh
	@$(ENV) && python ci/man.py build/man build/man/programs/bin/*

lock: .always ## pin anew what ci/requirements.in asks for
	@sh ci/lock.sh --upgrade

bundle: .always ## one archive for a machine without network (ARGS=--help)
	@bash ci/bundle.sh $(ARGS)

clean: .always ## remove builds and what runs leave behind; results stay
	rm -rf build results/binaries results/stage results/output .pytest_cache .ruff_cache .mypy_cache

distclean: clean ## remove the set-up too: .venv and .spack
	rm -rf .venv .spack

.always:
