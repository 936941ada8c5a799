#!/usr/bin/env python3
"""The table of presets (configs/presets.yaml), the lines that follow from it, what they build.

Make runs this file as a command and Spack's recipe loads it by its path, each with a Python that
has no membw: it imports nothing of the package, unless that is installed without a checkout.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, NoReturn

# typing's Dict: this file runs with the Python of Spack, which may be 3.7
Facts = Dict[str, Any]  # a mapping, as YAML has it
Table = Dict[str, Facts]  # families and presets, by their names


def find_root() -> Path:
    """The checkout that this file is in; of the installed library, what it unpacked."""
    here = Path(__file__).resolve().parents[3]
    if (here / 'configs' / 'presets.yaml').is_file():
        return here
    from membw.checkout import root

    return Path(root())


ROOT = find_root()
TABLE = ROOT / 'configs' / 'presets.yaml'
BLAS_TABLE = ROOT / 'configs' / 'blas.yaml'
PROGRAMS = ROOT / 'src'  # PROGRAMS/<name>/<name>.c, and the harness of all of them
HARNESS = 'harness'
SUFFIXES = ('.c', '.h', '.f90')
# program: its Spack package, where Spack's builtin repository has another of the program's name
PACKAGES = {'stream': 'membw'}

FAMILY_KEYS = {'cc', 'language', 'openmp', 'spack', 'external', 'version'}
PRESET_KEYS = {'family', 'line', 'requires', 'features', 'pages', 'source'}
OPTIONAL_KEYS = {'language', 'external', 'pages'}
PAGES = ('thp', '2M', '1G')
LISTS = ('requires', 'features', 'libraries')
LANGUAGES = ('c', 'fortran')
PLACEHOLDERS = {'openmp', 'defs', 'libhugetlbfs'}
# a macro of a line: STREAM_ARRAY_SIZE=800000000, STREAM_TYPE=float
DEFINE = re.compile(r'[A-Za-z_]\w*=([1-9]\d*|[A-Za-z_]\w*)')


class PresetError(Exception):
    """A usage error; the text is the fact and, on a second line, the way out."""

    def __init__(self, fact: str, hint: str) -> None:
        super().__init__(f'membw: {fact}\nhint: {hint}')
        self.fact, self.hint = fact, hint


# --- the table -------------------------------------------------------------------------------


def parse_yaml(text: str) -> Any:
    """PyYAML where there is one, else (in Spack's own Python) the YAML that Spack brings."""
    try:
        import yaml
    except ImportError:
        return parse_yaml_of_spack(text)
    try:
        return read_yaml(yaml, text)
    except yaml.YAMLError as err:
        raise PresetError(f'presets.yaml is not YAML: {one_line(err)}', 'fix that line') from err


def loader(yaml: ModuleType) -> Any:
    """libyaml's, where PyYAML was built with it: it takes a tenth of the time."""
    return getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


def read_yaml(yaml: ModuleType, text: str) -> Any:
    """What the text says; YAMLError also for a number that Python does not take."""
    try:
        return yaml.load(text, loader(yaml))
    except ValueError as err:
        raise yaml.YAMLError(str(err)) from err


def parse_yaml_of_spack(text: str) -> Any:
    try:
        import spack.util.spack_yaml as spack_yaml
    except ImportError as err:
        raise PresetError(
            f"no YAML reader in '{sys.executable}'",
            "use the project's Python (`. ./setup-env.sh`), or install python3-yaml",
        ) from err
    return spack_yaml.load(text)


def one_line(err: Exception) -> str:
    return ' '.join(str(err).split())


def load(path: Path | str = TABLE) -> Table:
    """The whole table, checked: {'families': {...}, 'presets': {...}}."""
    try:
        text = Path(path).read_text(encoding='utf-8')
    except OSError as err:
        raise PresetError(f"cannot read '{path}': {err.strerror}", 'restore it from git') from err
    except UnicodeError as err:
        raise PresetError(f"'{path}' is not UTF-8: {err}", 'save it as UTF-8') from err
    table = parse_yaml(text)
    twice = [f"line {line}: '{place}' is given twice" for line, place in given_twice(text)]
    problems = [*twice, *check(table)]
    if problems:
        name = Path(path).name
        raise PresetError(
            '\nmembw: '.join(f'{name}: {p}' for p in problems),
            'the head of presets.yaml says what each key means',
        )
    return table


def given_twice(text: str) -> Iterator[tuple[int, str]]:
    """(line, place) of each key that stands there twice: PyYAML would take the last, silently.

    Spack's own reader refuses such a text itself.
    """
    try:
        import yaml
    except ImportError:
        return
    waiting, seen = [('', yaml.compose(text, loader(yaml)))], set()
    while waiting:
        place, node = waiting.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))  # an anchor's node is met at each of its aliases
        if isinstance(node, yaml.SequenceNode):
            waiting += [(f'{place}[{i}]', item) for i, item in enumerate(node.value)]
            continue
        names = set()
        for key, value in node.value:
            name = f'{place}.{key.value}'.lstrip('.')
            if name in names:
                yield key.start_mark.line + 1, name
            names.add(name)
            waiting.append((name, value))


def check(table: Any) -> list[str]:
    """All problems of a table, as one line each."""
    if not isinstance(table, dict) or set(table) != {'families', 'presets'}:
        return ["the two top-level keys are 'families' and 'presets'"]
    if not all(isinstance(part, dict) and part for part in table.values()):
        return ["'families' and 'presets' hold one named row each line"]
    problems = []
    for name, family in table['families'].items():
        where = f'families.{name}'
        problems += check_keys(where, family, FAMILY_KEYS, OPTIONAL_KEYS)
        if isinstance(family, dict) and family.get('language', 'c') not in LANGUAGES:
            problems.append(f"{where}: 'language' is one of {' '.join(LANGUAGES)}")
    for name, row in table['presets'].items():
        where = f'presets.{name}'
        of_row = check_keys(where, row, PRESET_KEYS, OPTIONAL_KEYS)
        problems += of_row or check_row(where, name, row, table['families'])
    return problems


def check_keys(where: str, row: Any, keys: set[str], optional: set[str]) -> list[str]:
    if not isinstance(row, dict):
        return [f'{where}: is not a mapping']
    problems = [f"{where}: unknown key '{key}'" for key in row if key not in keys]
    problems += [f"{where}: '{key}' is missing" for key in sorted(keys - optional - set(row))]
    for key in sorted(set(row) & keys):
        kind, word = (list, 'a list') if key in LISTS else (str, 'text')
        if not isinstance(row[key], kind):
            problems.append(f"{where}: '{key}' is not {word}")
    return problems


def check_row(where: str, name: str, row: Facts, families: Facts) -> list[str]:
    problems = []
    if row['family'] not in families:
        problems.append(f"{where}: unknown family '{row['family']}'")
    elif not re.fullmatch(re.escape(row['family']) + r'-[a-z0-9][a-z0-9-]*', name):
        problems.append(f"{where}: the name is not '{row['family']}-<options>'")
    if row.get('pages', PAGES[0]) not in PAGES:
        problems.append(f"{where}: 'pages' is one of {' '.join(PAGES)}")
    unknown = set(re.findall(r'{(.*?)}', row['line'])) - PLACEHOLDERS
    problems += [f"{where}: unknown placeholder '{{{word}}}'" for word in sorted(unknown)]
    return problems


# --- from a row to a line --------------------------------------------------------------------


def row(preset: str, table: Table | None = None) -> Facts:
    table = table or load()
    if preset not in table['presets']:
        raise PresetError(
            f"unknown preset '{preset}'",
            'one of ' + ' '.join(table['presets']) + '; a new one is a row of presets.yaml',
        )
    return table['presets'][preset]


def family_of(preset: str, table: Table) -> Facts:
    return table['families'][row(preset, table)['family']]


def fill(
    template: str,
    preset: str,
    family: Facts,
    openmp: bool,
    defines: Sequence[str],
    libhugetlbfs: str | None,
) -> list[str]:
    if '{libhugetlbfs}' in template and not libhugetlbfs:
        raise PresetError(
            f"preset '{preset}' needs the path of libhugetlbfs",
            'make: LIBHUGETLBFS=PATH, spack: libhugetlbfs=PATH (the folder with ldscripts, obj64)',
        )
    values = {
        'openmp': family['openmp'] if openmp else '',
        'defs': shlex.join(f'-D{define}' for define in defines),
        'libhugetlbfs': libhugetlbfs or '',
    }
    return shlex.split(template.format(**values))


def flags(
    preset: str,
    openmp: bool = True,
    defines: Sequence[str] = (),
    extra: Sequence[str] = (),
    *,
    libhugetlbfs: str | None = None,
    table: Table | None = None,
) -> list[str]:
    """The options of a preset for a C program, in order; `extra` comes last.

    `defines` are the program's own macros, 'NAME=VALUE', in the order of the line.
    """
    table = table or load()
    template, family = row(preset, table)['line'], family_of(preset, table)
    return fill(template, preset, family, openmp, defines, libhugetlbfs) + list(extra)


def language(family: Facts) -> str:
    """What the programs are written in that a family compiles."""
    return family.get('language', 'c')


def sources_of(preset: str, program: str, table: Table) -> list[str]:
    """The files of src/<program> that stand on the line."""
    if language(family_of(preset, table)) == 'fortran':
        return [f'{program}.f90', f'{program}_f.c']
    return [f'{program}.c']


def package(program: str) -> str:
    """The Spack package that builds src/<program>."""
    return PACKAGES.get(program, program)


def program_of(package: str) -> str:
    return next((program for program, name in PACKAGES.items() if name == package), package)


def version() -> str:
    """Of the release: its one place is the harness, which every program carries along."""
    text = (PROGRAMS / HARNESS / 'config.h').read_text(encoding='utf-8')
    return re.findall(r'#define MEMBW_VERSION "(.+)"', text)[0]


# --- the BLAS that a program is linked with --------------------------------------------------

BLAS_KEYS = {
    'compile',
    'link',
    'folder',
    'preset',
    'libraries',
    'threading',
    'variable',
    'spack',
    'source',
}


def load_blas(path: Path | str = BLAS_TABLE) -> Facts:
    """{name: row} of configs/blas.yaml, checked."""
    try:
        rows = parse_yaml(Path(path).read_text(encoding='utf-8'))['rows']
    except OSError as err:
        raise PresetError(f"cannot read '{path}': {err.strerror}", 'restore it from git') from err
    problems = [
        text
        for name, row in rows.items()
        for text in check_keys(f'rows.{name}', row, BLAS_KEYS, {'folder', 'preset'})
    ]
    if problems:
        raise PresetError(
            '\nmembw: '.join(f'blas.yaml: {p}' for p in problems),
            'the head of blas.yaml says what each key means',
        )
    return rows


def blas_row(name: str, rows: Facts | None = None) -> Facts:
    rows = rows or load_blas()
    if name not in rows:
        raise PresetError(
            f"unknown BLAS '{name}'", f'one of {" ".join(rows)}; a new one is a row of blas.yaml'
        )
    return rows[name]


def from_environment(words: str, name: str) -> list[str]:
    """Words of a row with each ${NAME} filled in."""

    def value(match: re.Match[str]) -> str:
        if not os.environ.get(match[1]):
            raise PresetError(
                f"BLAS '{name}' needs {match[1]}, which is not set",
                'load the module of the library, or set it to the folder that it lies in',
            )
        return os.environ[match[1]]

    return [re.sub(r'\$\{(\w+)\}', value, word) for word in shlex.split(words)]


def blas_words(name: str, rows: Facts | None = None) -> tuple[list[str], list[str]]:
    """(words in front of the sources, words behind them) that link a row's library."""
    row = blas_row(name, rows)
    folders = sorted(glob.glob(row.get('folder', '')))[:1]
    places = [word for path in folders for word in (f'-L{path}', f'-Wl,-rpath,{path}')]
    return from_environment(row['compile'], name), [*places, *from_environment(row['link'], name)]


# --- provenance ------------------------------------------------------------------------------


def source_files(folder: Path | str) -> dict[str, Path]:
    """{path below src: path} of all that a program is made of: its folder and the harness."""
    folder = Path(folder).resolve()
    paths = [p for d in (folder, folder.parent / HARNESS) for p in d.rglob('*')]
    return {p.relative_to(folder.parent).as_posix(): p for p in paths if p.suffix in SUFFIXES}


def source_sha256(folder: Path | str) -> str:
    """One checksum of all sources of the program in that folder."""
    return checksum((name, path.read_bytes()) for name, path in source_files(folder).items())


def checksum(sources: Iterable[tuple[str, bytes]]) -> str:
    """Of (name below src, bytes): sha256 of what `sha256sum` prints in src, sorted by path."""
    total = hashlib.sha256()
    for name, content in sorted(sources, key=lambda source: source[0].encode()):
        total.update(f'{hashlib.sha256(content).hexdigest()}  {name}\n'.encode())
    return total.hexdigest()


def sha256(path: Path | str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def banner(cc: str) -> str:
    """First line of `cc --version`."""
    try:
        done = subprocess.run([cc, '--version'], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as err:
        raise PresetError(
            f"compiler '{cc}' does not run: {err}", 'CC=PATH names another one'
        ) from err
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else ''


def compiler_version(family: str, cc: str, table: Table | None = None) -> str | None:
    """Version of `cc`, or None when its banner is not that of the family."""
    table = table or load()
    match = re.search(table['families'][family]['version'], banner(cc))
    return match.group(1) if match else None


def candidates(cc: str) -> list[str]:
    """cc itself and cc-<version> on PATH, newest first; a path names one alone."""
    versions, version = set(), re.compile(re.escape(cc) + r'-\d[\d.]*')
    for folder in os.environ.get('PATH', '').split(os.pathsep) if os.sep not in cc else ():
        with contextlib.suppress(OSError):  # `su` keeps root's PATH, which one may not read
            versions |= {*filter(version.fullmatch, os.listdir(folder or '.'))}
    newest = sorted(versions, key=lambda n: [int(x) for x in re.findall(r'\d+', n)], reverse=True)
    return [c for c in [cc, *newest] if shutil.which(c)]


def compiler_of(family: str, table: Table) -> str:
    """The family's compiler by its plain name, else its newest cc-<version> (Debian's clang-19);
    where none of them is of the family, the one to say so of."""
    cc = table['families'][family]['cc']
    there = candidates(cc)
    return next((c for c in there if compiler_version(family, c, table)), [*there, cc][0])


def check_compiler(preset: str, cc: str, table: Table) -> None:
    """A row needs a compiler of its family."""
    family = table['presets'][preset]['family']
    if not shutil.which(cc):
        raise PresetError(
            f"compiler '{cc}' of preset '{preset}' not found",
            'load its module, or CC=PATH; `membw presets list` shows other presets',
        )
    if not compiler_version(family, cc, table):
        raise PresetError(
            f"'{cc}' is not of family '{family}' (preset '{preset}'): {banner(cc)!r}",
            'CC=PATH of another compiler, or a preset of its family',
        )


def write_if_changed(path: Path | str, text: str) -> bool:
    """Write only changed content: an unchanged file keeps its time, so make rebuilds nothing."""
    path = Path(path)
    if path.is_file() and path.read_text(encoding='utf-8') == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')
    return True


# --- what an MPI compiler wrapper adds to a preset's line ----------------------------------------

MPI_DEFINE = '-DMEMBW_MPI'
# Open MPI, MPICH and its kin (Intel, MVAPICH2, Cray's own mpicc) know one of these
SHOW = ('-show', '--showme', '-compile-info')
FOR_LINKER = re.compile(r'-(l|L|Wl,|Xlinker|z$|T$|u$|rdynamic)|.*\.(a|so)(\.\d+)*$')
# their value is the next word
TAKES_NEXT = ('-Xlinker', '-z', '-L', '-l', '-T', '-u', '-I', '-D', '-isystem', '-include')


def mpi_wrapped(mpicc: str) -> list[str]:
    """The words that the wrapper would run, its compiler first."""
    if not shutil.which(mpicc):
        raise PresetError(f"no '{mpicc}' on the PATH", 'load an MPI module, or MPICC=PATH')
    for option in SHOW:
        try:
            done = subprocess.run([mpicc, option], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as err:
            raise PresetError(f"'{mpicc}' does not run: {err}", 'MPICC=PATH') from err
        words = shlex.split(done.stdout)
        if done.returncode == 0 and len(words) > 1:
            return words
    raise PresetError(
        f"'{mpicc} -show' does not say what it adds", 'MPICC=PATH names another MPI compiler'
    )


def mpi_added(mpicc: str) -> tuple[list[str], list[str]]:
    """(for the compiler, for the linker): what goes before the sources and what after them."""
    before, after = [MPI_DEFINE], []  # type: list[str], list[str]
    words = iter(mpi_wrapped(mpicc)[1:])
    for word in words:
        value = [next(words, '')] if word in TAKES_NEXT else []
        (after if FOR_LINKER.match(word) else before).extend([word, *value])
    return before, after


# --- the command -----------------------------------------------------------------------------


def options_of(args: argparse.Namespace) -> Facts:
    keep = ('openmp', 'libhugetlbfs', 'extra')
    return {name: getattr(args, name) for name in keep}


def do_list(args: argparse.Namespace, table: Table) -> None:
    for name, preset in table['presets'].items():
        print(f'{name:18} {" ".join(preset["requires"]) or "any":12} {preset["line"].strip()}')


def do_flags(args: argparse.Namespace, table: Table) -> None:
    options = options_of(args)
    print(shlex.join(flags(args.preset, defines=args.define, table=table, **options)))


def do_plan(args: argparse.Namespace, table: Table) -> None:
    """The variables that make reads first; the stamp changes exactly when a rebuild is needed."""
    options = options_of(args)
    cc = args.cc or compiler_of(row(args.preset, table)['family'], table)
    check_compiler(args.preset, cc, table)
    line = flags(args.preset, defines=args.define, table=table, **options)
    before, after = mpi_added(args.mpicc) if args.mpicc else ([], [])
    if args.blas:
        compiled, linked = blas_words(args.blas)
        before, after = [*compiled, *before], [*linked, *after]
    plan = {
        'PLAN_CC': cc,
        'PLAN_FLAGS': shlex.join([*line, *before]),
        'PLAN_SOURCES': shlex.join(sources_of(args.preset, args.program, table)),
        'PLAN_LIBS': shlex.join(after),
    }
    text = ''.join(
        f'{k} := {v.replace("$", "$$").replace("#", chr(92) + "#")}\n' for k, v in plan.items()
    )
    write_if_changed(args.stamp, f'# {banner(cc)}\n{text}')


def do_record(args: argparse.Namespace, table: Table) -> None:
    """BINARY.json next to the binary: the line that reached the compiler, and what it made."""
    folder = Path(args.sources).resolve()
    record = {
        'program': folder.name,
        'built_with': 'make',
        'preset': args.preset,
        'compile_line': args.line,
        'compiler': banner(args.line[0]),
        'mpi': args.mpicc,
        'blas': args.blas,
        'source_sha256': source_sha256(folder),
        'binary_sha256': sha256(args.binary),
        'spec': None,
        'dag_hash': None,
    }
    Path(f'{args.binary}.json').write_text(json.dumps(record, indent=1) + '\n')


def build_record(binary: Path | str) -> Facts:
    """What make or Spack wrote of a binary when it was built."""
    path = Path(binary)
    places = (Path(f'{path}.json'), path.parents[1] / 'share' / 'membw' / f'{path.name}.json')
    return json.loads(
        next((p for p in places if p.is_file()), places[0]).read_text(encoding='utf-8')
    )


def define(text: str) -> str:
    if not DEFINE.fullmatch(text):
        name, _, value = text.partition('=')
        raise argparse.ArgumentTypeError(
            f"invalid value of {name}: '{value}', neither a whole number above 0 nor a name"
        )
    return text


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"membw: {message}\nhint: '{self.prog} --help' lists the options\n")


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument('preset', help='row of presets.yaml, e.g. gcc-o2')
    command.add_argument(
        '-D',
        dest='define',
        metavar='NAME=VALUE',
        type=define,
        action='append',
        default=[],
        help='a macro of the program, e.g. STREAM_ARRAY_SIZE=800000000; the order is kept',
    )
    command.add_argument(
        '--libhugetlbfs', help='the folder of this library, for presets that link it'
    )
    command.add_argument('--no-openmp', dest='openmp', action='store_false')
    command.add_argument(
        '--extra', type=shlex.split, default=[], help='more options, after those of the preset'
    )


def add_commands(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The commands of a parser: `membw presets ...`, or this file's own."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)
    commands.add_parser('list', help='every preset, the CPU features it needs, its line')
    one = commands.add_parser('flags', help='the options of one preset, quoted for a shell')
    add_options(one)
    plan = commands.add_parser('plan', help='write what make includes (only if it changed)')
    add_options(plan)
    plan.add_argument('program', help='a folder of src')
    plan.add_argument('--cc', default='')
    plan.add_argument('--mpicc', help='with MPI: the compiler wrapper')
    plan.add_argument('--blas', help='row of blas.yaml: the library to link')
    plan.add_argument('--stamp', required=True)
    record = commands.add_parser('record', help='write BINARY.json next to a binary')
    record.add_argument('preset')
    record.add_argument('binary')
    record.add_argument('--sources', required=True, help="the program's folder")
    record.add_argument('--mpicc', help='with MPI: the compiler wrapper')
    record.add_argument('--blas', help='the row of blas.yaml that is in the line')
    record.add_argument('line', nargs='+', help='after --: the compile line')
    return parser


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    about = 'list the presets: compilers and their lines'
    parser = subparsers.add_parser('presets', help=about, description=__doc__.splitlines()[0])
    add_commands(parser).set_defaults(func=run)


DO = {'list': do_list, 'flags': do_flags, 'plan': do_plan, 'record': do_record}


def run(args: argparse.Namespace) -> int:
    try:
        DO[args.what](args, load())
    except PresetError as err:
        print(err, file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # a reader that has seen enough is no file that may not be written
    except OSError as err:
        where = f"'{err.filename}': " if err.filename else ''
        print(f'membw: {where}{err.strerror}\nhint: is it writable?', file=sys.stderr)
        return 2
    return 0


def main(argv: list[str] | None = None) -> int:
    prog = f'python3 {os.path.relpath(__file__)}'
    try:
        return run(add_commands(Parser(prog=prog, description=__doc__)).parse_args(argv))
    except BrokenPipeError:
        sys.stderr.close()
        return 141


if __name__ == '__main__':
    sys.exit(main())
