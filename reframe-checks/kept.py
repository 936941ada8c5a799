"""What is kept of a run so that it can be made again: sources, build, lock, job, environment.

Below results/: `sources/<sha256>.tar.gz` (what a build reads of the checkout), `builds/<sha256 of
the binary>/` (build.json, spack.yaml, spack.lock), `jobs/<stem of the record>/` (job.json, the job
script, environment.txt). `membw reproduce` reads them.
"""

import functools
import gzip
import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import tarfile

import reframe.core.runtime as runtime

ROOT = pathlib.Path(__file__).resolve().parent.parent
# what a build reads, by make or by Spack
BUILT_FROM = ('src/harness', 'src/stream', 'configs', 'spack-repo', 'spack-repo-index.yaml')
ENVIRONMENT = 'environment.txt'
# variables that change how a run goes, or what it is linked with
WATCHED = 'OMP_|GOMP_|KMP_|LIKWID|MALLOC_|GLIBC_TUNABLES|LD_PRELOAD|LD_LIBRARY_PATH|SLURM_CPU'
# the last command before the program: what it really finds, from the login shell or the job
NOTE_ENVIRONMENT = f"env | LC_ALL=C sort | grep -E '^({WATCHED})' >{ENVIRONMENT} || :"


def results():
    """results/, or what --prefix names."""
    return pathlib.Path(runtime.runtime().get_option('systems/0/prefix'))


@functools.cache
def commit():
    """The checkout's git commit, with -dirty when tracked files differ from it; '' without git."""

    def git(*words):
        done = subprocess.run(['git', '-C', ROOT, *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    try:
        found = git('rev-parse', 'HEAD')
        changed = found and git('status', '--porcelain', '--untracked-files=no')
    except OSError:
        return ''
    return f'{found}-dirty' if changed else found or ''


def build_files():
    """Files of the checkout itself: no caches, no Spack environment that was tried in place."""
    for top in BUILT_FROM:
        path = ROOT / top
        for file in [path] if path.is_file() else sorted(path.rglob('*')):
            parts = file.relative_to(ROOT).parts
            ours = not any(part.startswith(('.', '__pycache__')) for part in parts)
            if ours and file.is_file() and file.resolve() == file and file.name != 'spack.lock':
                yield file


@functools.cache
def sources():
    """The bytes of one archive of BUILT_FROM: the same files give the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode='w', format=tarfile.PAX_FORMAT) as archive:
        for path in build_files():
            entry = tarfile.TarInfo(path.relative_to(ROOT).as_posix())
            data = path.read_bytes()
            entry.size, entry.mode = len(data), 0o755 if path.stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def keep_sources():
    """Name of the archive in results/sources; one for each state of the sources."""
    name = f'{hashlib.sha256(sources()).hexdigest()}.tar.gz'
    write(results() / 'sources' / name, sources())
    return name


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def write(path, content):
    """Once: several sessions may keep the same thing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f'.{path.name}.part')
        part.write_bytes(content if isinstance(content, bytes) else content.encode())
        part.rename(path)


def keep_build(build, environment_folder):
    """`build` is build.json with what else is known; the folder has Spack's lock, or is None."""
    folder = results() / 'builds' / build['binary_sha256']
    for name in ('spack.yaml', 'spack.lock') if environment_folder else ():
        path = pathlib.Path(environment_folder, name)
        if path.is_file():
            write(folder / name, path.read_bytes())
    kept = {**build, 'commit': commit(), 'sources': keep_sources()}
    write(folder / 'build.json', json.dumps(kept, indent=1) + '\n')


def keep_job(test, stem, record):
    """The job script and what it saw of the environment."""
    folder, stage = results() / 'jobs' / stem, pathlib.Path(test.stagedir)
    folder.mkdir(parents=True, exist_ok=True)
    script = pathlib.Path(test.job.script_filename).name
    for name in (script, 'scan.sh', ENVIRONMENT):
        if (stage / name).is_file():
            shutil.copy(stage / name, folder / name)
    partition = test.current_partition
    job = {
        'test': test.display_name,
        'system': test.current_system.name,
        'partition': partition.name,
        'environ': test.current_environ.name,
        'scheduler': partition.scheduler.registered_name,
        'script': script,
        'record': f'{stem}.json',
        'record_in_stage': record,
        'binary': test.binary.path,
        'binary_sha256': test.binary_sha256,
        'commit': commit(),
    }
    (folder / 'job.json').write_text(json.dumps(job, indent=1) + '\n')


def environment(stage):
    """'OMP_NUM_THREADS=2 ...' as the job found it; '' where it noted nothing."""
    try:
        return ' '.join(pathlib.Path(stage, ENVIRONMENT).read_text().split('\n')).strip()
    except OSError:
        return ''
