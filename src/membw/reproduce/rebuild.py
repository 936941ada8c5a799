"""The shell script that builds a stored result's binary again and runs it as it was run."""

import shlex
from pathlib import Path

from jinja2 import Environment, PackageLoader

from membw.checkout import root
from membw.errors import MembwError
from membw.presets import SUFFIXES
from membw.presets.sources import Sources
from membw.printable import printable
from membw.results.archive import ENVIRONMENT, WATCHED
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
    build, folder = result.build, result.build_folder
    if build.get('dag_hash') and not (folder / 'spack.lock').is_file():
        raise MembwError(f"no lock of the build in '{folder}'", 'bring results/builds along')
    line = list(build['compile_line'])
    at = line.index('-o') + 1 if '-o' in line else len(line)
    environment = Environment(
        loader=PackageLoader('membw.reproduce', ''),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {'quote': shlex.quote, 'words': shlex.join, 'printable': printable}
    return environment.get_template('rebuild.sh.jinja').render(
        result=result,
        job=result.job,
        build=build,
        sources=sources,
        root=root(),
        program=build.get('program', 'stream'),
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
    lines = path.read_text().splitlines() if path.is_file() else ()
    pairs = (line.partition('=') for line in lines)
    return {
        name: value
        for name, equals, value in pairs
        if equals and name.isidentifier() and not name.startswith('SLURM_')
    }
