#!/usr/bin/env python3
"""Reader of presets.yaml, the one table of compile lines; also the command that make calls."""

import argparse
import hashlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TABLE = HERE / 'presets.yaml'
SOURCES = ROOT / 'src' / 'stream'
SUFFIXES = ('.c', '.h', '.f90')

FAMILY_KEYS = {'cc', 'fc', 'openmp', 'spack', 'external', 'version'}
PRESET_KEYS = {'family', 'line', 'fortran', 'requires', 'features', 'source'}
OPTIONAL_KEYS = {'fortran', 'external'}
PLACEHOLDERS = {'openmp', 'defs', 'libhugetlbfs'}
# macro -> argument of flags(): the order of the -D on the founding lines
MACROS = {
    'STREAM_ARRAY_SIZE': 'array_size',
    'NTIMES': 'ntimes',
    'OFFSET': 'offset',
    'STREAM_TYPE': 'stream_type',
}
STREAM_TYPES = ('double', 'float')


class PresetError(Exception):
    """Something asked wrongly; the text is the fact and, on a second line, the way out."""

    def __init__(self, fact, hint):
        super().__init__(f'membw: {fact}\nhint: {hint}')


# --- the table -------------------------------------------------------------------------------


def parse_yaml(text):
    """PyYAML where there is one, else (in Spack's own Python) the YAML that Spack brings."""
    try:
        import yaml
    except ImportError:
        return parse_yaml_of_spack(text)
    try:
        # libyaml's loader, where PyYAML was built with it, takes a tenth of the time
        return yaml.load(text, getattr(yaml, 'CSafeLoader', yaml.SafeLoader))
    except yaml.YAMLError as err:
        raise PresetError(f'presets.yaml is not YAML: {one_line(err)}', 'mend that line') from err


def parse_yaml_of_spack(text):
    try:
        import spack.util.spack_yaml as spack_yaml
    except ImportError as err:
        raise PresetError(
            f"no YAML reader in '{sys.executable}'",
            "use the project's Python (`. ./setup-env.sh`), or install python3-yaml",
        ) from err
    return spack_yaml.load(text)


def one_line(err):
    return ' '.join(str(err).split())


def load(path=TABLE):
    """The whole table, checked: {'families': {...}, 'presets': {...}}."""
    try:
        text = pathlib.Path(path).read_text()
    except OSError as err:
        raise PresetError(f"cannot read '{path}': {err.strerror}", 'restore it from git') from err
    table = parse_yaml(text)
    problems = check(table)
    if problems:
        name = pathlib.Path(path).name
        raise PresetError(
            '\nmembw: '.join(f'{name}: {p}' for p in problems),
            'the head of presets.yaml says what each key means',
        )
    return table


def check(table):
    """All problems of a table, as one line each."""
    if not isinstance(table, dict) or set(table) != {'families', 'presets'}:
        return ["the two top-level keys are 'families' and 'presets'"]
    if not all(isinstance(part, dict) and part for part in table.values()):
        return ["'families' and 'presets' hold one named row each line"]
    problems = []
    for name, family in table['families'].items():
        problems += check_keys(f'families.{name}', family, FAMILY_KEYS, OPTIONAL_KEYS)
    for name, row in table['presets'].items():
        where = f'presets.{name}'
        found = check_keys(where, row, PRESET_KEYS, OPTIONAL_KEYS)
        problems += found or check_row(where, name, row, table['families'])
    return problems


def check_keys(where, row, keys, optional):
    if not isinstance(row, dict):
        return [f'{where}: is not a mapping']
    problems = [f"{where}: unknown key '{key}'" for key in row if key not in keys]
    problems += [f"{where}: '{key}' is missing" for key in sorted(keys - optional - set(row))]
    for key in sorted(set(row) & keys):
        kind, word = (list, 'a list') if key in ('requires', 'features') else (str, 'text')
        if not isinstance(row[key], kind):
            problems.append(f"{where}: '{key}' is not {word}")
    return problems


def check_row(where, name, row, families):
    problems = []
    if row['family'] not in families:
        problems.append(f"{where}: unknown family '{row['family']}'")
    elif not re.fullmatch(re.escape(row['family']) + r'-[a-z0-9][a-z0-9-]*', name):
        problems.append(f"{where}: the name is not '{row['family']}-<tuning>'")
    for key in ('line', 'fortran'):
        unknown = set(re.findall(r'{(.*?)}', row.get(key, ''))) - PLACEHOLDERS
        problems += [f"{where}: unknown placeholder '{{{word}}}'" for word in sorted(unknown)]
    return problems


# --- from a row to a line --------------------------------------------------------------------


def row(preset, table=None):
    table = table or load()
    if preset not in table['presets']:
        raise PresetError(
            f"unknown preset '{preset}'",
            'one of ' + ' '.join(table['presets']) + '; a new one is a row of presets.yaml',
        )
    return table['presets'][preset]


def tuning(preset):
    """'knc-huge' of 'icc13-knc-huge': what Spack's variant `tuning` is called."""
    return preset.partition('-')[2]


def defines(openmp=True, **macros):
    return [f'-D{macro}={macros[arg]}' for macro, arg in MACROS.items() if macros.get(arg)]


def fill(template, preset, family, openmp, defs, libhugetlbfs):
    if '{libhugetlbfs}' in template and not libhugetlbfs:
        raise PresetError(
            f"preset '{preset}' needs the path of libhugetlbfs",
            'make: LIBHUGETLBFS=PATH, spack: libhugetlbfs=PATH (the folder with ldscripts, obj64)',
        )
    values = {
        'openmp': family['openmp'] if openmp else '',
        'defs': shlex.join(defs),
        'libhugetlbfs': libhugetlbfs or '',
    }
    return shlex.split(template.format(**values))


def flags(
    preset,
    openmp=True,
    array_size=None,
    ntimes=None,
    extra=(),
    *,
    offset=None,
    stream_type=None,
    libhugetlbfs=None,
    table=None,
):
    """The options of a preset for the C program, in order; `extra` comes last."""
    table = table or load()
    found = row(preset, table)
    defs = defines(array_size=array_size, ntimes=ntimes, offset=offset, stream_type=stream_type)
    family = table['families'][found['family']]
    return fill(found['line'], preset, family, openmp, defs, libhugetlbfs) + list(extra)


def fortran_flags(preset, openmp=True, extra=(), *, libhugetlbfs=None, table=None):
    """The options of a preset for stream.f90, which takes its sizes as options only."""
    table = table or load()
    found = row(preset, table)
    family = table['families'][found['family']]
    template = found.get('fortran') or found['line']
    return fill(template, preset, family, openmp, [], libhugetlbfs) + list(extra)


def compile_line(preset, cc=None, sources=('stream.c',), output='stream', table=None, **options):
    """The whole command: compiler, the preset's options, sources, -o output."""
    table = table or load()
    cc = cc or table['families'][row(preset, table)['family']]['cc']
    return [cc, *flags(preset, table=table, **options), *sources, '-o', output]


# --- provenance ------------------------------------------------------------------------------


def source_files(folder=SOURCES):
    """{path below src: path} of all that a program is made of: its folder and the harness."""
    folder = pathlib.Path(folder).resolve()
    paths = [p for d in (folder, folder.parent / 'harness') for p in d.rglob('*')]
    named = {p.relative_to(folder.parent).as_posix(): p for p in paths if p.suffix in SUFFIXES}
    return dict(sorted(named.items(), key=lambda item: item[0].encode()))


def source_sha256(folder=SOURCES):
    """One checksum of all sources: sha256 of what `sha256sum` prints in src, sorted by path."""
    total = hashlib.sha256()
    for name, path in source_files(folder).items():
        total.update(f'{sha256(path)}  {name}\n'.encode())
    return total.hexdigest()


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def banner(cc):
    """First line of `cc --version`."""
    try:
        done = subprocess.run([cc, '--version'], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as err:
        raise PresetError(
            f"compiler '{cc}' does not run: {err}", 'CC=PATH names another one'
        ) from err
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else ''


def compiler_version(family, cc, table=None):
    """Version of `cc`, or None when its banner is not that of the family."""
    table = table or load()
    found = re.search(table['families'][family]['version'], banner(cc))
    return found.group(1) if found else None


def check_compiler(preset, cc, table):
    """A row is only what its name says when the compiler is of its family."""
    family = table['presets'][preset]['family']
    if not shutil.which(cc):
        raise PresetError(
            f"compiler '{cc}' of preset '{preset}' not found",
            'load its module, or CC=PATH; `presets.py list` shows other presets',
        )
    if not compiler_version(family, cc, table):
        raise PresetError(
            f"'{cc}' is not of family '{family}' (preset '{preset}'): {banner(cc)!r}",
            f"CC={table['families'][family]['cc']}, or a preset of that compiler's family",
        )


def write_if_changed(path, text):
    """Keep the time of a file whose content stays: what depends on it is then not rebuilt."""
    path = pathlib.Path(path)
    if path.is_file() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True


# --- the command -----------------------------------------------------------------------------


def options_of(args):
    return {
        'openmp': args.openmp,
        'array_size': args.array_size,
        'ntimes': args.ntimes,
        'offset': args.offset,
        'stream_type': args.stream_type,
        'libhugetlbfs': args.libhugetlbfs,
        'extra': args.extra,
    }


def do_list(args, table):
    for name, found in table['presets'].items():
        print(f'{name:18} {" ".join(found["requires"]) or "any":12} {found["line"].strip()}')


def do_flags(args, table):
    if args.fortran:
        keep = {k: options_of(args)[k] for k in ('openmp', 'libhugetlbfs', 'extra')}
        print(shlex.join(fortran_flags(args.preset, table=table, **keep)))
    else:
        print(shlex.join(flags(args.preset, table=table, **options_of(args))))


def mpi_added(mpicc):
    import mpi_wrapper

    try:
        return mpi_wrapper.added(mpicc)
    except mpi_wrapper.WrapperError as err:
        raise PresetError(*err.args) from err


def do_plan(args, table):
    """What make asks when it starts; the stamp changes exactly when the build must."""
    family = table['families'][row(args.preset, table)['family']]
    cc, fc = args.cc or family['cc'], args.fc or family['fc']
    check_compiler(args.preset, cc, table)
    keep = {k: options_of(args)[k] for k in ('openmp', 'libhugetlbfs', 'extra')}
    plan = {
        'PLAN_CC': cc,
        'PLAN_FC': fc,
        'PLAN_FLAGS': shlex.join(flags(args.preset, table=table, **options_of(args))),
        'PLAN_FFLAGS': shlex.join(fortran_flags(args.preset, table=table, **keep)),
        'PLAN_LIBS': '',
    }
    if args.mpicc:
        before, after = mpi_added(args.mpicc)
        plan['PLAN_FLAGS'] += ' ' + shlex.join(before)
        plan['PLAN_LIBS'] = shlex.join(after)
    text = ''.join(
        f'{k} := {v.replace("$", "$$").replace("#", chr(92) + "#")}\n' for k, v in plan.items()
    )
    write_if_changed(args.stamp, f'# {banner(cc)}\n{text}')


def do_record(args, table):
    """build.json beside the binary: the line that reached the compiler, and what it made."""
    record = {
        'built_with': 'make',
        'preset': args.preset,
        'compile_line': args.line,
        'compiler': banner(args.line[0]),
        'mpi': args.mpicc,
        'source_sha256': source_sha256(args.sources),
        'binary_sha256': sha256(args.binary),
        'spec': None,
        'dag_hash': None,
    }
    path = pathlib.Path(args.binary).with_name(args.name)
    path.write_text(json.dumps(record, indent=1) + '\n')


def do_sha(args, table):
    print(source_sha256())


def positive(text):
    if not re.fullmatch(r'[1-9]\d*', text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return text


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f'membw: presets.py: {message}\nhint: {self.prog} --help\n')


def add_options(command):
    command.add_argument('preset', help='row of presets.yaml, e.g. gcc-o2')
    command.add_argument('--array-size', type=positive, help='-DSTREAM_ARRAY_SIZE, elements')
    command.add_argument('--ntimes', type=positive, help='-DNTIMES')
    command.add_argument('--offset', type=positive, help='-DOFFSET, elements')
    command.add_argument('--stream-type', choices=STREAM_TYPES, help='-DSTREAM_TYPE')
    command.add_argument('--libhugetlbfs', help='its folder, for presets that link it')
    command.add_argument('--no-openmp', dest='openmp', action='store_false')
    command.add_argument(
        '--extra', type=shlex.split, default=[], help="more options, after the preset's"
    )


def make_parser():
    parser = Parser(prog='presets.py', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True, parser_class=Parser)
    commands.add_parser('list', help='every preset, what it asks of the CPU, its line')
    one = commands.add_parser(
        'flags', help='the options of one preset, as a shell would take them'
    )
    add_options(one)
    one.add_argument('--fortran', action='store_true', help='those of stream.f90')
    plan = commands.add_parser('plan', help='write what make includes (only if it changed)')
    add_options(plan)
    plan.add_argument('--cc', default='')
    plan.add_argument('--fc', default='')
    plan.add_argument('--mpicc', help='with MPI: the wrapper whose additions the line gets')
    plan.add_argument('--stamp', required=True)
    record = commands.add_parser('record', help='write build.json beside a binary')
    record.add_argument('preset')
    record.add_argument('binary')
    record.add_argument('--sources', default=SOURCES)
    record.add_argument('--name', default='build.json')
    record.add_argument('--mpicc', help='the MPI wrapper whose additions are in the line')
    record.add_argument('line', nargs='+', help='after --: the line that made it')
    commands.add_parser(
        'source-sha256', help='checksum of src/stream and src/harness, as records carry it'
    )
    return parser


DO = {
    'list': do_list,
    'flags': do_flags,
    'plan': do_plan,
    'record': do_record,
    'source-sha256': do_sha,
}


def main(argv=None):
    args = make_parser().parse_args(argv)
    try:
        DO[args.command](args, load())
    except PresetError as err:
        print(err, file=sys.stderr)
        return 2
    except OSError as err:
        print(f"membw: '{err.filename}': {err.strerror}\nhint: is it writable", file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
