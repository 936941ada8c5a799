"""The presets as one name: presets.load(), presets.plan(), presets.build_record()."""

from membw.presets.build import blas_words, compiler_version, compilers, cpu, flags, plan
from membw.presets.provenance import (
    HARNESS,
    PROGRAMS,
    SUFFIXES,
    build_record,
    checksum,
    sha256,
    source_sha256,
    version,
    write_if_changed,
)
from membw.presets.table import (
    ROOT,
    TABLE,
    PresetError,
    blas_row,
    environ_name,
    environs_of,
    family_of,
    language,
    load,
    load_blas,
    read_yaml,
    row,
)
