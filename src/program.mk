# Plain make build of one program of src: the compile line is the preset's and nothing else.
#
#   make -C src/stream PRESET=gcc-o2 [CC=gcc-12] [OPENMP=0] [EXTRA='-g'] [LIBHUGETLBFS=PATH]
#        [MPI=1 [MPICC=mpicc]] [BLAS=ROW] [LIBS='-lfoo'] [BUILD=DIR] and the program's own macros
#
# makes BUILD/stream (MPI=1: for a whole cluster, in PRESET-mpi) and, next to it, stream.json: what
# was built, how, from what. A second make does nothing; an edit of a source, of the preset's row, of
# an option above or another compiler version rebuilds. Without CC: the preset's compiler, as
# 'clang', else its newest 'clang-19'.
# Presets: membw presets list. BLAS: a row of configs/blas.yaml, for a program that calls one.
#
# A program is a folder of src with a file of the same name for the compiler. One with macros of
# its own has a Makefile that sets DEFINES (NAME=VALUE ...) and includes this file; the others are
# built by `make -C src PROGRAM=name`.

PROGRAM ?= $(lastword $(notdir $(CURDIR)))
ROOT := ../..
PYTHON ?= $(or $(wildcard $(ROOT)/.venv/bin/python),python3)
# a CC of make itself or of the environment says nothing about the preset: the command line does
ifneq ($(origin CC),command line)
CC :=
endif
# gcc-o2 is for x86-64 alone, gcc-o3 for any machine
PRESET ?= $(if $(findstring clang,$(CC)),clang-o2,$(if $(filter \
	x86_64-%,$(shell $(or $(CC),gcc) -dumpmachine 2>/dev/null)),gcc-o2,gcc-o3))
BUILD ?= $(ROOT)/build/$(PRESET)$(if $(filter 1,$(MPI)),-mpi)$(BLAS:%=-%)
OPENMP ?= 1
MPICC ?= mpicc
# the preset's compiler and line; the wrapper only says what MPI adds to it
WITH_MPI := $(if $(filter 1,$(MPI)),--mpicc='$(MPICC)')
WITH_BLAS := $(BLAS:%=--blas='%')

# Without Python 3.8, sh and awk do: the first number needs make and a compiler alone.
COMMAND := $(if $(shell $(PYTHON) -c 'import sys; sys.version_info < (3, 8) or print(1)' 2>/dev/null),\
	PYTHONPATH='$(ROOT)/src' $(PYTHON) -m membw.presets.command,sh ../plain.sh)

SOURCES := $(sort $(shell find . ../harness -name '*.[ch]' -o -name '*.f90'))
PLAN := $(BUILD)/$(PROGRAM).mk

ifeq ($(filter clean help,$(MAKECMDGOALS)),)
# Not .SHELLSTATUS, which make 3.82 lacks (RHEL 7).
PLANNED := $(shell $(COMMAND) plan '$(PRESET)' $(PROGRAM) --stamp '$(PLAN)' --cc='$(CC)' \
	--extra='$(EXTRA)' --libs='$(LIBS)' $(WITH_MPI) $(WITH_BLAS) $(patsubst %,-D '%',$(DEFINES)) \
	$(if $(LIBHUGETLBFS),--libhugetlbfs '$(LIBHUGETLBFS)') $(if $(filter 0,$(OPENMP)),--no-openmp) \
	&& echo yes)
ifneq ($(PLANNED),yes)
$(error nothing built: preset '$(PRESET)' cannot be used, see above)
endif
include $(PLAN)
endif

LINE = $(PLAN_CC) $(PLAN_FLAGS) $(PLAN_SOURCES) -o $@ $(PLAN_LIBS)
RECORD = $(COMMAND) record $(PRESET) $@ --sources .

.DELETE_ON_ERROR:
.PHONY: all clean help

all: $(BUILD)/$(PROGRAM)

$(BUILD)/$(PROGRAM): $(SOURCES) $(PLAN)
	$(LINE)
	@$(RECORD) $(WITH_MPI) $(WITH_BLAS) -- $(LINE)

clean:
	rm -rf $(BUILD)/$(PROGRAM) $(BUILD)/$(PROGRAM).json $(PLAN)

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' $(wildcard Makefile) ../program.mk
