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

# the last word: the path of the checkout may have a space
PROGRAM ?= $(lastword $(notdir $(CURDIR)))
ROOT := ../..
# makes presets.sh, where somebody edited presets.yaml; nothing else here needs Python
PYTHON ?= $(or $(wildcard $(ROOT)/.venv/bin/python),python3)
# a CC of make itself or of the environment says nothing about the preset: the command line does
ifneq ($(origin CC),command line)
CC :=
endif
COMMAND := PYTHON='$(PYTHON)' sh ../build.sh
ifndef PRESET
PRESET := $(or $(shell $(COMMAND) default '$(CC)' $(if $(filter 0,$(OPENMP)),--no-openmp)),$(error nothing built: see above))
endif
BUILD ?= $(ROOT)/build/$(PRESET)$(if $(filter 1,$(MPI)),-mpi)$(BLAS:%=-%)
OPENMP ?= 1
quoted = '$(subst ','\'',$1)'
MPICC ?= mpicc
# the preset's compiler and line; the wrapper only says what MPI adds to it
WITH := $(if $(filter 1,$(MPI)),--mpicc='$(MPICC)') $(BLAS:%=--blas='%')

SOURCES := $(sort $(shell find . ../harness -name '*.[ch]' -o -name '*.f90'))
PLAN := $(BUILD)/$(PROGRAM).mk

ifeq ($(filter clean help,$(MAKECMDGOALS)),)
# Not .SHELLSTATUS, which make 3.82 lacks (RHEL 7).
PLANNED := $(shell $(COMMAND) plan '$(PRESET)' $(PROGRAM) --stamp='$(PLAN)' --cc='$(CC)' \
	--extra=$(call quoted,$(EXTRA)) --libs=$(call quoted,$(LIBS)) $(WITH) $(patsubst %,--define='%',$(DEFINES)) \
	--libhugetlbfs='$(LIBHUGETLBFS)' $(if $(filter 0,$(OPENMP)),--no-openmp) && echo yes)
ifneq ($(PLANNED),yes)
$(error nothing built: preset '$(PRESET)' cannot be used, see above)
endif
include $(PLAN)
endif

LINE = $(PLAN_CC) $(PLAN_FLAGS) $(PLAN_SOURCES) -o $@ $(PLAN_LIBS)
RECORD = $(COMMAND) record $(PRESET) $@ . $(WITH)

.DELETE_ON_ERROR:
.PHONY: all clean help

all: $(BUILD)/$(PROGRAM)

$(BUILD)/$(PROGRAM): $(SOURCES) $(PLAN)
	$(LINE)
	@$(RECORD) -- $(LINE)

clean:
	rm -rf $(BUILD)/$(PROGRAM) $(BUILD)/$(PROGRAM).json $(PLAN)

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' $(wildcard Makefile) ../program.mk
