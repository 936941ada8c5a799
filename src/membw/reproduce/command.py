"""`membw reproduce`: one stored result again, from its exact sources, and what differs."""

import argparse
import contextlib
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from membw import tables, templates
from membw.checkout import root
from membw.codegen.elf import code_sha256
from membw.diff.command import add_options, compare
from membw.errors import MembwError
from membw.files import text_if_any
from membw.presets import SUFFIXES, build_record, sha256
from membw.presets.sources import Sources, find_sources
from membw.printable import printable
from membw.progress import Passing, duration
from membw.results.archive import ENVIRONMENT, WATCHED, Result, find
from membw.results.record import read_records
from membw.results.run_lock import alone, alone_on_host
from membw.site import slurm

EPILOG = """\
ID is a record: a file of results/records, its name alone, or FILE#HOST.

The script takes the exact sources from results/sources.
It builds by Spack's lock or the make line in results/builds. Then it runs the job script in
results/jobs with the variables of that run.

examples:
  membw reproduce stream-20261123T194501-local-default-gcc-o2-omp >again.sh; bash again.sh
  membw reproduce stream-20261123T194501-local-default-gcc-o2-omp --run

exit status: 0 the script is printed, or with --run: the same binary, figures within the margin;
1 something differs, or it could not be built or run; 2 usage error, or nothing is kept of it
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('id', metavar='ID', help='a stored result, named as below')
    add = parser.add_argument_group('what is done').add_argument
    add('--run', action='store_true', help='run the script, and compare')
    add('--folder', metavar='DIR', help='build and run in DIR (a new temporary folder)')
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    result = find(args.id, args.results)
    refuse_unstored(result)
    text = script(result, find_sources(result.build, result.results))
    if not args.run:
        print(text, end='')
        return 0
    with alone(), alone_on_host():
        return run_again(args, result, text)


def run_again(args: argparse.Namespace, result: Result, text: str) -> int:
    here = Path(args.folder or tempfile.mkdtemp(prefix='membw-reproduce-')).resolve()
    here.mkdir(parents=True, exist_ok=True)
    path, log = here / 'reproduce.sh', here / 'reproduce.log'
    path.write_text(text)
    print(f'reproduce: in {here}: building and running {result.title}', file=sys.stderr)
    begun = time.monotonic()
    with open(log, 'w') as output, contextlib.closing(Passing()) as passing:
        passing.now(lambda: so_far(log, time.monotonic() - begun))
        code = subprocess.run(
            ['bash', path, here], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ).returncode
    again = new_result(here, result)
    if not again:
        last = (log.read_text().strip().splitlines() or ['no output'])[-1]
        print(f"membw: no new record of '{result.name}': {last}", file=sys.stderr)
        print(f"hint: '{log}' has all output (exit status {code})", file=sys.stderr)
        return 1
    is_same = result.build['binary_sha256'] == again.build['binary_sha256']
    said = f'binary: {"the same, bit for bit" if is_same else "DIFFERS"}'
    found = compare(result, again, args.margin)
    print(tables.as_text([said, *found.blocks], args.json))
    return 0 if found.is_same else 1


def so_far(log: Path, seconds: float) -> str:
    """'reproduce: 40 s so far: ==> Installing membw': Spack may build for minutes."""
    lines = log.read_text(errors='replace').split('\n')
    last = next((printable(line) for line in reversed(lines) if line.strip()), 'begins')
    return f'reproduce: {duration(seconds)} so far: {last}'


def new_result(here: Path, old: Result) -> Result | None:
    """What the script left in its folder; None where it left no record."""
    file = here / 'run' / old.job['record_in_stage']
    records, problems = read_records(file)
    for problem in problems:
        print(f'membw: {problem}', file=sys.stderr)
    if not records:
        return None
    binary = Path((here / 'binary').read_text().strip())
    record = next((r for r in records if r.get('host') == old.record.get('host')), records[0])
    build = {**build_record(binary), 'binary_sha256': sha256(binary)}
    # the check does not run again: what it adds to a record is taken over, but for the build
    known = {name: build[name] for name in ('source_sha256', 'binary_sha256', 'compiler')}
    known['code_sha256'] = code_sha256(binary)
    known['compile_line'] = ' '.join(build['compile_line'])
    record['case'] = {**old.case, **{k: v for k, v in known.items() if old.case.get(k)}}
    return Result(str(file), record, {}, build, here)


# --- the shell script that builds the binary again and runs it as it was run


def refuse_unstored(result: Result) -> None:
    """MembwError where the job or the build of the result is not stored."""
    if not result.build or not result.job:
        fact = f"the {'job' if result.build else 'build'} of '{result.name}' is not stored"
        hint = "a record of 'membw run' has both, in results/builds and results/jobs"
        raise MembwError(fact, hint)


def script(result: Result, sources: Sources) -> str:
    build, folder = result.build, result.build_folder
    if build.get('dag_hash') and not (folder / 'spack.lock').is_file():
        raise MembwError(f"no lock of the build in '{folder}'", 'bring results/builds along')
    line = list(build['compile_line'])
    at = line.index('-o') + 1 if '-o' in line else len(line)
    environment = templates.text('membw.reproduce')
    environment.filters |= {'quote': shlex.quote, 'words': shlex.join, 'printable': printable}
    return environment.get_template('rebuild.sh.jinja').render(
        result=result,
        job=result.job,
        build=build,
        sources=sources,
        root=root(),
        program=build.get('program', 'stream'),
        installed=Path(result.job['binary']).name,
        names=' -o '.join(f"-name '*{suffix}'" for suffix in SUFFIXES),
        lock=str(folder / 'spack.lock'),
        spack_yaml=str(folder / 'spack.yaml'),
        own_line=f'{shlex.join(line[:at])} "$binary" {shlex.join(line[at + 1 :])}'.rstrip(),
        scripts=_scripts(result),
        watched=WATCHED,
        variables=_variables(result.job_folder),
        slurm=slurm.SCHEDULERS,
    )


def _scripts(result: Result) -> dict[str, str]:
    """{name: the job script that ReFrame wrote, with a place for the new binary}."""
    files = (result.job_folder / name for name in (result.job['script'], 'scan.sh'))
    return {
        file.name: file.read_text().replace(result.job['binary'], '@BINARY@').rstrip('\n')
        for file in files
        if file.is_file()
    }


def _variables(folder: Path) -> dict[str, str]:
    """The watched variables, as the job found them."""
    path = folder / ENVIRONMENT
    lines = text_if_any(path).splitlines()
    pairs = (line.partition('=') for line in lines)
    return {
        name: value
        for name, equals, value in pairs
        if equals and name.isidentifier() and not name.startswith('SLURM_')
    }
