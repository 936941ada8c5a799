"""`membw reproduce`: one stored result again, from its exact sources, and what differs."""

import hashlib
import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from membw import tables
from membw.diff.command import add_options
from membw.diff.text import as_blocks, as_json
from membw.presets import presets
from membw.results.metrics import of_record
from membw.results.run_lock import alone

EPILOG = """\
ID is a test case of ReFrame (SESSION:RUN:CASE), a file of results/records, or FILE#CASE:
`membw diff --help` says how to list them.

The script takes the sources from results/sources or the commit of git, never others, builds by
Spack's lock or the make line in results/builds, and runs the job script in results/jobs with the
variables that it found then.

examples:
  membw reproduce 4d9a937f:0:3 >again.sh; bash again.sh
  membw reproduce 4d9a937f:0:3 --run

exit status: 0 the script is printed, or with --run: the same binary, figures within the margin;
1 something differs, or it could not be built or run; 2 usage error, or nothing is kept of it
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'reproduce',
        help='build and run a stored result again',
        description='Prints the exact commands that rebuild the binary of a stored result and run '
        'it as it was run, as a shell script; or does so, and names what differs.',
        epilog=EPILOG,
    )
    parser.add_argument('id', metavar='ID', help='a stored result, named as below')
    parser.add_argument('--run', action='store_true', help='do it, and compare')
    parser.add_argument('--folder', metavar='DIR', help='where to build and run (a new one)')
    add_options(parser)
    parser.set_defaults(func=run)


def run(args):
    from membw.presets.sources import find_sources
    from membw.reproduce.rebuild import script
    from membw.results.find_one import find

    result = find(args.id, args.results)
    sources = find_sources(result.build, result.results) if result.build else None
    text = script(result, sources)
    for note in sources.notes:
        print(f'membw: {note}: taken from {sources.origin}', file=sys.stderr)
    if not args.run:
        print(text, end='')
        return 0
    with alone():
        return do(args, result, text)


def do(args, result, text):
    """Run the script in a folder of its own; compare."""
    here = Path(args.folder or tempfile.mkdtemp(prefix='membw-reproduce-')).resolve()
    here.mkdir(parents=True, exist_ok=True)
    path = here / 'reproduce.sh'
    path.write_text(text)
    print(f'reproduce: in {here}: building and running {result.title}', file=sys.stderr)
    with open(here / 'reproduce.log', 'w') as log:
        code = subprocess.run(
            ['bash', path, here], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        ).returncode
    again = made(here, result)
    if not again:
        last = (here / 'reproduce.log').read_text().strip().splitlines()[-1:] or ['nothing']
        print(f"membw: no record of '{result.name}' again: {last[0]}", file=sys.stderr)
        print(f"hint: '{here}/reproduce.log' holds all (exit status {code})", file=sys.stderr)
        return 1
    return tell(args, result, again)


def made(here, old):
    """The Result that the script left, or None."""
    from membw.reproduce.rebuild import new_result_parts
    from membw.results.case import one_record
    from membw.results.find_one import Result

    record, environment, binary = new_result_parts(here, old.job)
    if not record.is_file():
        return None
    path = Path(binary.read_text().strip())
    build = presets.build_record(path)
    build['binary_sha256'] = hashlib.sha256(path.read_bytes()).hexdigest()
    case = {'run_environment': ' '.join(environment.read_text().splitlines())}
    case['perfvalues'] = {name: points for name, points in _points(record.parent)}
    again = one_record(record, old.record.get('host'))
    return Result(str(record), case, again, {}, build, here)


def _points(run):
    """What numa_scan names after its points, as ReFrame would have it."""
    for path in run.glob('scan-*.json'):
        triad = of_record(json.loads(path.read_text()))[0]['triad']
        yield path.stem.replace('scan', 'triad', 1).replace('-', '_'), (triad, 0, 0, 0, 'GB/s')


def tell(args, old, new):
    from membw.diff.compare import compare

    # the check does not run again: the program's own verdicts are compared
    case = {k: v for k, v in old.case.items() if k not in ('verdict', 'reasons', 'result')}
    old = replace(old, case=case)
    difference = compare(old, new, args.margin)
    difference.figures = {n: row for n, row in difference.figures.items() if 'saturation' not in n}
    # what only ReFrame says of a run cannot differ: the script is its own
    difference.only_a = {}
    if args.format == 'json':
        print(json.dumps(as_json(old, new, difference), indent=1))
        return 0 if difference.equal else 1
    same = 'binary_sha256' in difference.same.get('build', {})
    said = f'binary: {"the same, to the bit" if same else "DIFFERS"}'
    print(tables.as_text([said, *as_blocks(old, new, difference)], args.format))
    return 0 if difference.equal else 1
