"""The shell script that builds a stored result's binary again and runs it as it was run."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.presets import SUFFIXES
from membw.presets.sources import Sources
from membw.printable import printable
from membw.results.archive import WATCHED
from membw.results.find_one import Result
from membw.site import slurm


def refuse_unstored(result: Result) -> None:
    """MembwError where the job or the build of the result is not stored, or it is a battery's."""
    if result.record.get('parts'):
        preset = (result.record.get('build') or {}).get('preset') or 'PRESET'
        raise MembwError(
            f"'{result.name}' is of several programs (membw node): reproduce builds one",
            f"on '{result.record['host']}', of version {result.record['version']}: "
            f"'membw node --preset {preset}'",
        )
    if not result.build or not result.job:
        what = 'build' if not result.build else 'job'
        raise MembwError(
            f"the {what} of '{result.name}' is not stored",
            'results/builds and results/jobs hold them; a record alone is not enough',
        )


def script(result: Result, sources: Sources) -> str:
    """The bash script of a result whose job and build are stored."""
    parts = (_head(result), _sources(result, sources), _build(result), _checksum(result))
    return '\n'.join([*(line for part in parts for line in part), *_run(result)]) + '\n'


def _head(result: Result) -> Iterator[str]:
    q = shlex.quote
    yield from (
        '#!/bin/bash',
        f'# {printable(result.title)}',
        f'# made by: membw reproduce {q(result.name)}',
        '# usage: bash THIS [FOLDER]    builds and runs in FOLDER (a new one)',
        f'. {q(root())}/setup-env.sh || exit 2',
        'set -eu',
        'here=${1:-$(mktemp -d)}',
        'mkdir -p "$here/sources" "$here/run"',
        'here=$(cd "$here" && pwd -P)',
    )


def _sources(result: Result, sources: Sources) -> Iterator[str]:
    q, folders = shlex.quote, shlex.join(['harness', program_of(result)])
    names = ' -o '.join(f"-name '*{suffix}'" for suffix in SUFFIXES)
    yield ''
    yield f'# 1. the exact sources: {printable(sources.origin)}'
    yield sources.command
    yield '# the checksum is computed by no file of the archive itself'
    yield 'sources=$(cd "$here/sources/src" && \\'
    yield f'\tfind {folders} -type f \\( {names} \\) | LC_ALL=C sort | tr "\\n" "\\0" \\'
    yield '\t\t| xargs -0 sha256sum | sha256sum | cut -d " " -f 1)'
    yield f'[ "$sources" = {q(result.build["source_sha256"])} ] || {{'
    yield '\techo "membw: the sources are $sources, not those of the result" >&2'
    yield '\texit 1'
    yield '}'


def program_of(result: Result) -> str:
    """A folder of src."""
    return result.build.get('program', 'stream')


def _build(result: Result) -> Iterator[str]:
    yield ''
    yield f'# 2. the binary: {printable(result.build["compiler"])}'
    yield f'#    {printable(shlex.join(result.build["compile_line"]))}'
    yield from (f'module load {shlex.quote(m)}' for m in result.build.get('modules') or [])
    program = program_of(result)
    if result.build.get('dag_hash'):
        yield from _build_by_spack(result)
    elif result.build['make']:
        words, where = shlex.join(result.build['make']), 'PYTHON="$(command -v python)"'
        yield f'make -C "$here/sources/src" {words} BUILD="$here/build" {where}'
        yield f'binary=$here/build/{program}'
    else:
        yield from _build_by_line(result, program)


def _build_by_line(result: Result, program: str) -> Iterator[str]:
    """Of an environment of the site's own: its compiler and flags, and no preset."""
    line, where = list(result.build['compile_line']), '"$here/sources/src/' + f'{program}"'
    at = line.index('-o') + 1
    words = f'{shlex.join(line[:at])} "$binary" {shlex.join(line[at + 1 :])}'.rstrip()
    yield f'mkdir -p "$here/build" && binary=$here/build/{program}'
    yield f'(cd {where} && {words})'
    record = f'python -m membw.presets.command record {shlex.quote(result.build["preset"])}'
    yield f'{record} "$binary" --sources {where} -- {words}'


def _build_by_spack(result: Result) -> Iterator[str]:
    """The lock is installed, not concretized again; the store is the folder's own."""
    q, folder = shlex.quote, result.build_folder
    if not (folder / 'spack.lock').is_file():
        raise MembwError(f"no lock of the build in '{folder}'", 'bring results/builds along')
    dag_hash = q(result.build['dag_hash'])
    yield from (
        f'#    {printable(result.build["spec"])} /{printable(dag_hash)}',
        'mkdir -p "$here/sources/.spack/user" "$here/env"',
        'ln -sfn "$MEMBW_ROOT/.spack/packages" "$here/sources/.spack/packages"',
        "printf 'include:\\n- name: membw\\n  path: ../../configs/spack\\n' \\",
        '\t>"$here/sources/.spack/user/include.yaml"',
        f'cp {q(str(folder / "spack.lock"))} "$here/env/"',
        'sed "s|\\"[^\\"]*/configs/spack\\"|\\"$here/sources/configs/spack\\"|" \\',
        f'\t{q(str(folder / "spack.yaml"))} >"$here/env/spack.yaml"',
        'export SPACK_USER_CONFIG_PATH="$here/sources/.spack/user"',
        f'spack -e "$here/env" install --only-concrete /{dag_hash}',
        f'binary=$(spack -e "$here/env" location -i /{dag_hash})/bin/{program_of(result)}',
    )


def _checksum(result: Result) -> Iterator[str]:
    checksum = shlex.quote(f'{result.build["binary_sha256"]}  -')
    yield from (
        f'if [ "$(sha256sum <"$binary")" = {checksum} ]; then',
        "\techo 'reproduce: the binary is the same, bit for bit'",
        'else',
        "\techo 'reproduce: the binary differs: compare compiler, line and libraries'",
        'fi',
        'echo "$binary" >"$here/binary"',
    )


def _run(result: Result) -> Iterator[str]:
    """The job script that ReFrame wrote, with the new binary in the place of the old one."""
    job, folder = result.job, result.job_folder
    yield ''
    yield f'# 3. run as it was run: {printable(result.title)}'
    yield 'cd "$here/run"'
    for name in (job['script'], 'scan.sh'):
        if (folder / name).is_file():
            text = (folder / name).read_text().replace(job['binary'], '@BINARY@').rstrip('\n')
            file = shlex.quote(name)
            yield from (f'sed "s|@BINARY@|$binary|g" >{file} <<\'END OF JOB\'', text, 'END OF JOB')
    yield from _environment(folder)
    yield from _start(job)
    yield f'echo "reproduce: record $here/run/"{shlex.quote(job["record_in_stage"])}'


def _environment(folder: Path) -> Iterator[str]:
    """Only the watched variables, as the job found them."""
    yield f'for name in $(env | grep -oE \'^({WATCHED})[^=]*\' || :); do unset "$name"; done'
    path = folder / 'environment.txt'
    for line in path.read_text().splitlines() if path.is_file() else ():
        name, equals, value = line.partition('=')
        if equals and name.isidentifier() and not name.startswith('SLURM_'):
            yield f'export {name}={shlex.quote(value)}'


def _start(job: dict) -> Iterator[str]:
    script = shlex.quote(job['script'])
    if job['scheduler'] == 'local':
        yield f'bash {script} >rfm_job.out 2>rfm_job.err || {{ cat rfm_job.err >&2; exit 1; }}'
    elif job['scheduler'] in slurm.SCHEDULERS:
        yield f'sbatch --wait {script}'
    else:
        yield f'echo "membw: run $here/run/"{script} on a node of {shlex.quote(job["system"])} >&2'
        yield 'exit 1'


def new_result_parts(here: Path, job: dict) -> tuple[Path, Path, Path]:
    """(record path, environment path, binary path) of what the script left in its folder."""
    run = Path(here, 'run')
    return run / job['record_in_stage'], run / 'environment.txt', Path(here, 'binary')
