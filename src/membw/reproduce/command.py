"""`membw reproduce`: one stored result again, from its exact sources, and what differs."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from membw import tables
from membw.diff.command import add_options, compare
from membw.results.find_one import Result, find
from membw.results.run_lock import alone

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
    from membw.presets.sources import find_sources
    from membw.reproduce.rebuild import refuse_unstored, script

    result = find(args.id, args.results)
    refuse_unstored(result)
    text = script(result, find_sources(result.build, result.results))
    if not args.run:
        print(text, end='')
        return 0
    with alone():
        return run_again(args, result, text)


def run_again(args: argparse.Namespace, result: Result, text: str) -> int:
    here = Path(args.folder or tempfile.mkdtemp(prefix='membw-reproduce-')).resolve()
    here.mkdir(parents=True, exist_ok=True)
    path, log = here / 'reproduce.sh', here / 'reproduce.log'
    path.write_text(text)
    print(f'reproduce: in {here}: building and running {result.title}', file=sys.stderr)
    with open(log, 'w') as output:
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


def new_result(here: Path, old: Result) -> Result | None:
    """What the script left in its folder; None where it left no record."""
    from membw.presets import build_record, code_sha256, sha256

    file = here / 'run' / old.job['record_in_stage']
    if not file.is_file():
        return None
    binary = Path((here / 'binary').read_text().strip())
    records = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    record = next((r for r in records if r.get('host') == old.record.get('host')), records[0])
    build = {**build_record(binary), 'binary_sha256': sha256(binary)}
    # the check does not run again: what it adds to a record is taken over, but for the build
    known = {name: build[name] for name in ('source_sha256', 'binary_sha256', 'compiler')}
    known['code_sha256'] = code_sha256(binary)
    known['compile_line'] = ' '.join(build['compile_line'])
    record['case'] = {**old.case, **{k: v for k, v in known.items() if old.case.get(k)}}
    return Result(str(file), record, {}, build, here)
