"""Writes src/presets.sh: configs/presets.yaml and blas.yaml, as make and sh read them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from membw.presets.table import (
    BLAS_TABLE,
    ROOT,
    TABLE,
    Facts,
    PresetError,
    language,
    load,
    load_blas,
)

GENERATED = Path('src', 'presets.sh')


def words(line: str) -> str:
    """A line as `eval` takes it: {defs} as words, the rest of what stands in braces as one."""
    line = re.sub(r'\$?\{(libhugetlbfs|[A-Z_]+)\}', r'"$\1"', line)
    return re.sub(r'\{(openmp|defs)\}', r'$\1', line)


def assigned(between: str = ' ', **values: str) -> str:
    return between.join(f'{name}={shlex.quote(value)}' for name, value in values.items())


def family(row: Facts) -> str:
    named = {'compiler': row['cc'], 'openmp_option': row['openmp']}
    known = {'macros': ' '.join(row['macros']), 'value': row.get('value', '')}
    return assigned(**named, **known, language=language(row))


def preset(row: Facts) -> str:
    line, requires = words(row['line']), ' '.join(row['requires'])
    return assigned(family=row['family'], requires=requires, line=line)


def blas(row: Facts) -> str:
    compiled, linked = row['compile'], row['link']
    environment = ' '.join(dict.fromkeys(re.findall(r'\$\{(\w+)\}', compiled + linked)))
    line = {'row_compile': words(compiled), 'row_link': words(linked)}
    return assigned(folder=row.get('folder', ''), environment=environment, **line)


def function(name: str, rows: dict[str, str]) -> str:
    cases = ''.join(f'{row}) {values} ;;\n' for row, values in rows.items())
    return f'{name}() {{ case $1 in\n{cases}*) return 1 ;;\nesac; }}\n'


def text() -> str:
    table, libraries = load(), load_blas()
    families, presets = table['families'], table['presets']
    tables = Path(TABLE).read_bytes() + Path(BLAS_TABLE).read_bytes()
    done = subprocess.run(['cksum'], input=tables, stdout=subprocess.PIPE, check=True)
    names = assigned(
        between='\n',
        made_of=done.stdout.decode().strip(),
        machines=' '.join(table['machines']),
        families=' '.join(families),
        presets=' '.join(presets),
        blas_rows=' '.join(libraries),
    )
    parts = [
        '# shellcheck shell=sh disable=SC2016,SC2034\n',
        '# For src/build.sh. Edit configs/presets.yaml and blas.yaml, of which it is made by\n',
        '# `python -m membw.presets.generate`.\n',
        names + '\n',
        function('family_row', {name: family(row) for name, row in families.items()}),
        function('preset_row', {name: preset(row) for name, row in presets.items()}),
        function('blas_row', {name: blas(row) for name, row in libraries.items()}),
    ]
    return ''.join(parts)


def main() -> int:
    path = ROOT / GENERATED
    try:
        content = text()
        new = path.with_name(f'{path.name}.{os.getpid()}')  # others may read it now
        new.write_text(content)
        new.replace(path)
        return 0
    except PresetError as err:
        print(err, file=sys.stderr)
    except OSError as err:
        fact = f"membw: cannot write '{path}': {err.strerror}"
        print(f'{fact}\nhint: is it writable?', file=sys.stderr)
    return 2


if __name__ == '__main__':
    sys.exit(main())
