"""`membw reproduce`: one stored result again, from its exact sources, and what differs."""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from membw import tables
from membw.diff.command import add_options, compare
from membw.results.find_one import Result
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
    """Exit status as in EPILOG."""
    from membw.presets.sources import find_sources
    from membw.reproduce.rebuild import refuse_unstored, script
    from membw.results.find_one import find

    result = find(args.id, args.results)
    refuse_unstored(result)
    sources = find_sources(result.build, result.results)
    text = script(result, sources)
    if not args.run:
        print(text, end='')
        return 0
    with alone():
        return run_again(args, result, text)


def run_again(args: argparse.Namespace, result: Result, text: str) -> int:
    """Run the script in a folder of its own, and compare; 0 where nothing differs."""
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
    return compare_with(args, result, again)


def new_result(here: Path, old: Result) -> Result | None:
    """The Result that the script left; None where it left no record."""
    from membw.presets import build_record
    from membw.presets.code_checksum import code_sha256
    from membw.reproduce.rebuild import new_result_parts

    file, binary_path = new_result_parts(here, old.job)
    if not file.is_file():
        return None
    binary = Path(binary_path.read_text().strip())
    records = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    record = next((r for r in records if r.get('host') == old.record.get('host')), records[0])
    build = build_record(binary)
    build['binary_sha256'] = hashlib.sha256(binary.read_bytes()).hexdigest()
    # the check does not run again: what it adds to a record is taken over, but for the build
    known = {'source_sha256': build['source_sha256'], 'code_sha256': code_sha256(binary)}
    known |= {'binary_sha256': build['binary_sha256'], 'compiler': build['compiler']}
    known['compile_line'] = ' '.join(build['compile_line'])
    record['case'] = {**old.case, **{k: v for k, v in known.items() if old.case.get(k)}}
    return Result(str(file), record, {}, build, here)


def compare_with(args: argparse.Namespace, old: Result, new: Result) -> int:
    """Print the comparison; 0 where nothing differs."""
    is_same = old.build['binary_sha256'] == new.build['binary_sha256']
    said = f'binary: {"the same, bit for bit" if is_same else "DIFFERS"}'
    found = compare(old, new, args.margin)
    print(tables.as_text([said, *found.blocks], args.json))
    return 0 if found.is_same else 1
