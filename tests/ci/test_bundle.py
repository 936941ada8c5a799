"""ci/bundle.sh: what it packs sets itself up and measures in a network namespace of its own."""

import os
import re
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

TINY = '-S array_size=100000 -S ntimes=3'
ALLOWED = 'array-too-small,too-short,disturbed,unstable,oversubscribed,wrong-pinning'


@pytest.fixture(scope='module')
def archive(root, call, tmp_path_factory):
    """The bundle of the last commit; needs the package index and a Spack that was cloned."""
    if not (root / '.spack' / 'packages' / '.git').exists():
        pytest.skip('Spack is not available here: nothing to pack')
    folder = tmp_path_factory.mktemp('bundle')
    done = call('bash', 'ci/bundle.sh', '--last-commit', '--output', folder, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    return next(folder.glob('membw-*.tar.gz'))


@pytest.fixture(scope='module')
def unpacked(archive):
    subprocess.run(['tar', 'xf', archive.name], cwd=archive.parent, check=True)
    return archive.parent / archive.name.removesuffix('.tar.gz')


def without_network(folder, *words):
    """The command in an empty shell that has no network device but a dead loopback."""
    separate = ['unshare', '--net'] + ([] if os.geteuid() == 0 else ['--map-root-user'])
    home = folder.parent / 'home'
    home.mkdir(exist_ok=True)
    # 0 means --no-compile (sic): a quarter of a minute less
    shell = ['env', '-i', f'HOME={home}', 'PATH=/usr/local/bin:/usr/bin:/bin', 'PIP_NO_COMPILE=0']
    if subprocess.run([*separate, 'true'], capture_output=True).returncode:
        pytest.skip('unshare cannot make a network namespace here')
    return subprocess.run(
        [*separate, *shell, *words], cwd=folder, capture_output=True, text=True, timeout=500
    )


@pytest.mark.night
def test_the_archive_has_a_checksum_file(archive):
    done = subprocess.run(
        ['sha256sum', '--check', f'{archive.name}.sha256'], cwd=archive.parent, capture_output=True
    )
    assert done.returncode == 0


@pytest.mark.night
def test_the_bundle_is_this_commit_and_clean(root, unpacked):
    def git(folder, *words):
        return subprocess.check_output(['git', '-C', folder, *words], text=True)

    assert git(unpacked, 'rev-parse', 'HEAD') == git(root, 'rev-parse', 'HEAD')
    assert git(unpacked, 'status', '--porcelain') == ''


@pytest.mark.night
def test_the_namespace_has_no_network(unpacked):
    """Else the next test proves nothing."""
    done = without_network(unpacked, 'sh', '-c', 'cat /proc/net/route; git ls-remote $0', URL)
    assert done.returncode != 0
    assert len(done.stdout.splitlines()) <= 1


URL = 'https://github.com/spack/spack.git'


@pytest.mark.night
def test_make_run_works_without_network(unpacked):
    args = f"-n 'stream.*pinning=omp' -p gcc-o2 {TINY} -S allow={ALLOWED}"
    done = without_network(unpacked, 'make', 'run', f'ARGS={args}')
    assert done.returncode == 2, done.stdout + done.stderr  # make's own, of the 1 for UNDECIDED
    assert 'the bundle: comparing checksums' in done.stdout
    assert 'not available' not in done.stdout
    assert list((unpacked / 'offline/sources/compiler-wrapper').iterdir())
    assert str(unpacked / 'offline/sources') in (unpacked / '.spack/user/mirrors.yaml').read_text()
    ready = (unpacked / '.spack/ready').stat().st_mtime_ns
    (index,) = (unpacked / '.spack/cache/cache/patches').glob('builtin-*.json')
    assert index.stat().st_mtime_ns <= ready, 'Spack made anew what the bundle brings'
    assert re.search(r'^Verdict: UNDECIDED: 1 UNDECIDED', done.stdout, re.M)
    log = (unpacked / 'results/perflogs/local/default/stream.log').read_text()
    assert '"built_with": "spack"' in log


@pytest.mark.parametrize(
    'python, numpy', [('3.10', '2.2'), ('3.11', '2.4'), ('3.11.9', '2.4'), ('3.12', '2.5'),
                      ('3.12.3', '2.5'), ('3.14', '2.5')],
)  # fmt: skip
@pytest.mark.parametrize('tag', ['manylinux_2_28_x86_64', 'manylinux_2_28_ppc64le'])
def test_the_wheels_are_those_of_the_python_over_there(root, python, numpy, tag):
    """pip asks its own Python of the markers: the bundle lacked what another one takes."""
    words = [sys.executable, 'ci/pins.py', 'ci/requirements.txt', python, tag]
    said = subprocess.check_output(words, cwd=root, text=True)
    pins = dict(re.findall(r'^(\S+)==(\S+) \\$', said, re.M))
    names = set(re.findall(r'^([\w-]+)==', (root / 'ci/requirements.txt').read_text(), re.M))
    only = {'capstone'} if 'ppc64le' in tag else set()
    only |= {'typing-extensions'} if python == '3.14' else set()
    assert pins['numpy'].startswith(numpy) and names - set(pins) == only
    assert said.count('==') == len(pins) and ' ; ' not in said


WHEEL_ALONE = """
"$5" -m venv --without-pip v
packages=$("$5" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$packages" >"$(echo v/lib/python3*)/site-packages/its.pth"
"$5" -m pip --python v/bin/python install --quiet --no-compile --no-index --no-deps "$1"
sed "1s|.*|#!$PWD/v/bin/python|" "$2" >v/bin/reframe
chmod +x v/bin/reframe
export PATH="$PWD/v/bin:$PATH"
mkdir elsewhere && cd elsewhere
checks=$(membw checks)
reframe -C "$checks/../configs/settings.py" -c "$checks" -l --system helios -n stream
eval "$(membw env)"
reframe -c "$(membw checks)" -l --system ulysses -n stream
membw run -n 'stream.*pinning=omp' -p '^gcc-o2$' --rounds 1 $3 -S "allow=$4" || [ $? = 1 ]
[ -z "$(ls -A)" ]
membw summary | tail -n 1
"""


@pytest.mark.night
def test_the_wheel_alone_measures_from_any_folder(root, tmp_path):
    """An environment without index and checkout; what the wheel depends on is that of .venv. The
    wheel is built from the source archive, so that has all of it as well."""
    build = f"from setuptools import build_meta; build_meta.build_{{}}('{tmp_path}')"
    python = root / '.venv/bin/python'
    subprocess.run([python, '-c', build.format('sdist')], cwd=root, check=True)
    subprocess.run(['tar', 'xf', next(tmp_path.glob('*.gz'))], cwd=tmp_path, check=True)
    sources = next(tmp_path.glob('membw-*/'))
    subprocess.run([python, '-c', build.format('wheel')], cwd=sources, check=True)
    place = tmp_path / 'place'
    place.mkdir()
    reframe = root / '.venv/bin/reframe'
    words = [next(tmp_path.glob('*.whl')), reframe, TINY, ALLOWED, python]
    done = without_network(place, 'sh', '-euc', WHEEL_ALONE, 'sh', *map(str, words))
    assert done.returncode == 0, done.stdout + done.stderr
    home = tmp_path / 'home/.local/share/membw'
    assert f"checks, systems and sources are in '{home}'" in done.stderr
    assert '~ulysses:' in done.stdout and '~helios:' in done.stdout
    assert re.search(r'^report ' + str(home / 'results/reports/run-'), done.stdout, re.M)
    # of an array that is too small, as is allowed here
    assert done.stdout.splitlines()[-1].startswith('Verdict: UNDECIDED: 1 UNDECIDED')


@pytest.mark.night
def test_a_damaged_bundle_is_refused(unpacked, tmp_path):
    """In a copy without what the set-up has made already."""
    copy = tmp_path / 'copy'
    shutil.copytree(unpacked, copy, ignore=shutil.ignore_patterns('.venv', '.spack', '.git'))
    wheel = max((copy / 'offline' / 'wheels').iterdir(), key=lambda file: file.stat().st_size)
    with open(wheel, 'r+b') as file:
        file.seek(1000)
        file.write(b'damage')
    done = without_network(copy, 'sh', 'ci/setup.sh')
    assert done.returncode == 2
    assert wheel.name in done.stdout + done.stderr
    assert 'membw: the bundle is damaged' in done.stderr
    assert not (copy / '.venv').exists()


def test_changes_that_would_be_left_out_are_refused(root, tmp_path):
    clone = tmp_path / 'clone'
    subprocess.run(['git', 'clone', '-q', '--depth', '1', f'file://{root}', clone], check=True)
    (clone / 'Makefile').write_text('changed')
    done = subprocess.run(['bash', clone / 'ci/bundle.sh'], capture_output=True, text=True)
    assert done.returncode == 2
    assert 'has changes that are not committed' in done.stderr
    assert 'hint: ' in done.stderr


@pytest.mark.parametrize('words', [['--moon'], ['--output']])
def test_a_wrong_option_is_refused(root, words):
    done = subprocess.run(['bash', root / 'ci/bundle.sh', *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert words[0] in done.stderr
