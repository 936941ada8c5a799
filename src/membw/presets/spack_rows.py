"""All rows of a system (compiler x preset) as one Spack environment with a path for each row.

A row is a mapping: environ (its name), preset, cc (a compiler on this machine, an external of
Spack), libhugetlbfs, and in `variants` what the program's recipe offers besides.
"""

import functools
import hashlib
import json
import os
import shutil
from pathlib import Path

from membw import presets
from membw.call import call
from membw.presets.table import Facts, Table

SCOPE = presets.ROOT / 'configs' / 'spack'
RECIPES = presets.ROOT / 'spack-repo' / 'spack_repo' / 'membw'


@functools.cache
def can_build() -> bool:
    """Whether there is a Spack here that our specs are for, 1.0 or later; the set-up saw to it."""
    if not shutil.which('spack') or (presets.ROOT / '.spack' / 'ready').exists():
        return bool(shutil.which('spack'))
    done = call(['spack', '--version'])
    return not done.stdout.startswith('0.') and done.returncode == 0


def compiler(row: Facts, table: Table) -> tuple[str, Facts]:
    """(constraint, {package: external}) of one row."""
    family = presets.family_of(row['preset'], table)
    path = shutil.which(row['cc']) or row['cc']
    name = family['spack'].removeprefix('%c=').partition('@')[0]  # 'gcc' of '%c=gcc@12'
    version = presets.compiler_version(row['preset'], path)
    external = {
        'spec': f'{name}@={version} {family.get("external", "")}'.strip(),
        'prefix': str(Path(path).parent.parent),
        'extra_attributes': {'compilers': {'c': path}},
    }
    return f'%c={name}@={version}', {name: external}


def spec_of(program: str, row: Facts, constraint: str) -> str:
    """The compiler comes last: Spack applies later words to the compiler."""
    words = [f'membw@develop programs:={program}', f'preset={row["preset"]}']
    words += [f'{name}={value}' for name, value in row.get('variants', {}).items()]
    words += [f'libhugetlbfs={row["libhugetlbfs"]}'] if row.get('libhugetlbfs') else []
    return ' '.join([*words, constraint])


def environment(program: str, rows: list[Facts], table: Table) -> tuple[Facts, dict[str, str]]:
    """(what spack.yaml holds, {environ: spec of the row})"""
    names: dict[str, str] = {}
    externals: dict[str, list[Facts]] = {}
    specs: dict[str, str] = {}
    for row in rows:
        constraint, external = compiler(row, table)
        for name, entry in external.items():
            known = externals.setdefault(name, [])
            known += [entry] if entry['spec'] not in [e['spec'] for e in known] else []
        # two environments may be the same row under two names: one build, one folder
        spec = specs[row['environ']] = spec_of(program, row, constraint)
        names.setdefault(spec, row['environ'])
    # unify false: when_possible was seen to give a clang row the binary of the gcc row
    spack = {
        'include': [str(SCOPE)],
        'concretizer': {'unify': False},
        'packages': {n: {'buildable': False, 'externals': e} for n, e in externals.items()},
        'specs': list(names),
        'view': {
            'rows': {
                'root': 'rows',
                'link': 'roots',
                'select': ['membw'],
                'projections': {**names, 'all': '{name}-{hash}'},
            }
        },
    }
    return spack, specs


def fingerprint(program: str, text: str) -> str:
    """Changes when a lock made before would be stale, or of another CPU's -march=native."""
    files = [presets.TABLE, *sorted(SCOPE.glob('*.yaml')), *sorted(RECIPES.rglob('*.py'))]
    files += [*sorted(presets.PROGRAMS.glob('*.mk')), presets.PROGRAMS / 'build.sh']
    sources = presets.source_sha256(presets.PROGRAMS / program)
    parts = [text, presets.cpu(), sources, *map(presets.sha256, files)]
    return hashlib.sha256('\n'.join(parts).encode()).hexdigest()


def as_text(spack: Facts) -> str:
    return json.dumps({'spack': spack}, indent=1) + '\n'  # JSON is YAML


def holding(folder: Path, program: str, spack: Facts) -> Facts | None:
    """What spack.yaml there holds, where it has all these rows and its lock is of today's
    sources; else None."""
    try:
        before = json.loads((folder / 'spack.yaml').read_text())['spack']
        made_of = (folder / 'fingerprint').read_text()
    except (OSError, ValueError, KeyError):
        return None
    known = before['packages']
    has_all = set(spack['specs']) <= set(before['specs']) and all(
        entry in known.get(name, {'externals': []})['externals']
        for name, package in spack['packages'].items()
        for entry in package['externals']
    )
    return before if has_all and made_of == fingerprint(program, as_text(before)) else None


def write(
    folder: Path | str, program: str, rows: list[Facts], table: Table | None = None
) -> dict[str, Path]:
    """Write FOLDER/spack.yaml; drop a stale lock. Returns {environ: path of its program}.

    One that holds these rows and more is left alone: who chooses a few rows of many (-p) shall
    not wait for Spack, now or when all are chosen again.
    """
    folder = Path(folder).resolve()
    spack, specs = environment(program, rows, table or presets.load())
    spack = holding(folder, program, spack) or spack
    folder.mkdir(parents=True, exist_ok=True)
    presets.write_if_changed(folder / 'spack.yaml', as_text(spack))
    if presets.write_if_changed(folder / 'fingerprint', fingerprint(program, as_text(spack))):
        (folder / 'spack.lock').unlink(missing_ok=True)
    names = spack['view']['rows']['projections']
    return {
        environ: folder / 'rows' / names[spec] / 'bin' / f'membw-{program}'
        for environ, spec in specs.items()
    }


def commands(folder: Path | str, paths: dict[str, Path]) -> list[str]:
    """Shell lines that build what is missing; none when every row is there and the lock holds."""
    folder = Path(folder).resolve()
    if (folder / 'spack.lock').is_file() and all(path.exists() for path in paths.values()):
        return []
    # a row is one compiler process: as many at once as there are CPUs; what has no lock yet is
    # concretized first
    at_once = min(len(paths), len(os.sched_getaffinity(0)))
    return [f"spack -e '{folder}' install -p {at_once}"]
