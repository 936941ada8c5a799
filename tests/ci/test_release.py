"""ci/release.sh, in a clone of its own; what Spack makes of it is in tests/spack."""

import hashlib
import os
import re
import subprocess
import sys

import pytest
from checkout_copy import PARTS as PARTS_OF_RUNS
from checkout_copy import copy_checkout
from places import ROOT

from membw import presets

PARTS = (
    *PARTS_OF_RUNS, '.gitignore', 'CHANGELOG-older.md', 'CHANGELOG.md', 'CITATION.cff', 'LICENSE',
    'MANIFEST.in', 'README.md', 'ci', 'pyproject.toml', 'setup-env.sh', 'setup.py',
)  # fmt: skip
RECIPE = 'spack-repo/spack_repo/membw/packages/membw/package.py'


@pytest.fixture
def clone(tmp_path):
    copy_checkout(tmp_path, PARTS)
    git(tmp_path, 'init', '-q')
    git(tmp_path, 'config', 'user.name', 'a test')
    git(tmp_path, 'config', 'user.email', 'test@example.org')
    git(tmp_path, 'add', '.')
    git(tmp_path, 'commit', '-q', '-m', 'all')
    return tmp_path


def git(folder, *words):
    done = subprocess.run(['git', *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


# the SBOM's tool comes from the network: here what it is given is tested
SBOM = """#!/bin/sh
while [ "$1" != --output-file ]; do shift; done
grep -h '^version\\|^argcomplete' pyproject.toml "$3" >"$2"
"""


def release(clone, *words, script='release.sh', **more):
    tool = clone / '.git/sbom'
    tool.write_text(SBOM.replace('pyproject.toml', '"$(dirname "$3")/../pyproject.toml"'))
    tool.chmod(0o755)
    env = {**os.environ, 'PYTHON': sys.executable, 'CYCLONEDX': str(tool), **more}
    return subprocess.run(
        ['sh', clone / 'ci' / script, *words], capture_output=True, text=True, timeout=200, env=env
    )


def checksums(folder):
    files = (path for path in folder.rglob('*') if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_a_release_is_a_tag_and_the_next_commit_knows_its_hash(clone):
    done = release(clone, '7.1.0', '7.2.0-dev')
    assert done.returncode == 0, done.stderr
    tagged = git(clone, 'rev-parse', 'v7.1.0^{commit}')
    for ref, version in {'v7.1.0': '7.1.0', 'HEAD': '7.2.0-dev'}.items():
        assert f'"{version}"' in git(clone, 'show', f'{ref}:src/harness/config.h')
        assert f'\nversion: {version}\n' in git(clone, 'show', f'{ref}:CITATION.cff')
    assert 'version("7.1.0", tag="v7.1.0")' in git(clone, 'show', f'v7.1.0:{RECIPE}')
    line = f'version("7.1.0", tag="v7.1.0", commit="{tagged}")'
    assert line in (clone / RECIPE).read_text()
    assert re.search(r'## Unreleased\n\n## 7\.1\.0 - \d', (clone / 'CHANGELOG.md').read_text())
    assert "version = '7.1.0'" in (clone / 'ci/entries/membw.eb').read_text()
    again = release(clone, '7.1.0', '7.2.0-dev')
    assert again.returncode == 2 and "tag 'v7.1.0' exists" in again.stderr


@pytest.mark.slow
def test_what_is_published_has_the_same_checksums_twice(clone):
    """Made later, in another time zone and by another umask; and all name that archive."""
    assert release(clone, '7.1.0', '7.2.0-dev').returncode == 0
    folder = clone / 'build/membw-7.1.0'
    once = checksums(folder)
    assert release(clone, '7.1.0', script='release-files.sh', TZ='Asia/Tokyo').returncode == 0
    assert checksums(folder) == once
    sums = once.pop('SHA256SUMS')
    lines = (folder / 'SHA256SUMS').read_text().split('\n')
    assert sorted(lines[:-1]) == sorted(f'{of}  ./{name}' for name, of in once.items()) and sums
    archive = once['membw-7.1.0.tar.gz']
    for name in ('membw-7.1.0.eb', 'conda-forge/recipe.yaml'):
        text = (folder / name).read_text()
        assert archive in text and '7.1.0' in text and 'https://example.org/membw' in text
    assert 'membw (7.1.0-1) ' in (folder / 'debian/changelog').read_text()
    assert 'Redistribution and use' in (folder / 'debian/copyright').read_text()
    sbom = (folder / 'membw-7.1.0.cdx.json').read_text()
    assert 'version = "7.1.0"' in sbom and 'argcomplete==' in sbom
    made = ' '.join(
        (folder / name).read_text() for name in once if name[-3:] not in ('.gz', 'whl')
    )
    assert not re.search('@[A-Z]', made), 'a template was not filled'
    assert 'membw-7.1.0-py3-none-any.whl' in once


CHECK = """
import sys
sys.path.insert(0, {folder!r})
import reframe
from hpctestlib_stream import membw_stream
@reframe.simple_test
class stream_of_a_site(membw_stream):
    valid_systems = valid_prog_environs = ['*']
    executable_opts = {options!r}
"""
NOISE = 'too-short,too-good,wrong-pinning,oversubscribed,disturbed,unstable,wrong-placement'
TINY = ['-n', '200000', '-t', '3', '--allow']


@pytest.mark.parametrize('more, status', [(',not-proven,array-too-small', 0), ('', 1)])
def test_the_check_for_reframes_library_builds_and_judges(clone, tmp_path_factory, more, status):
    """By ReFrame's own settings; arrays in a cache have no rate."""
    folder = tmp_path_factory.mktemp('site')
    git(clone, 'archive', '--prefix=membw-1.1.0/', '-o', folder / 'membw-1.1.0.tar.gz', 'HEAD')
    text = CHECK.format(folder=str(ROOT / 'docs/upstream'), options=[*TINY, NOISE + more])
    (folder / 'check.py').write_text(text)
    env = {name: value for name, value in os.environ.items() if name[:4] != 'RFM_'}
    words = ['-c', 'check.py', '-r', '--prefix=.', '-S', f'build_membw_stream.releases={folder}']
    done = subprocess.run(
        ['reframe', *words], cwd=folder, env=env, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == status, done.stdout
    assert ('P: triad: ' in done.stdout) == (status == 0)


def test_actions_are_pinned_by_hash():
    files = [*(ROOT / '.github/workflows').iterdir()]
    uses = [line for file in files for line in re.findall('uses: (.*)', file.read_text())]
    assert uses and all(re.fullmatch(r'[\w/-]+@[0-9a-f]{40} # v[\d.]+', line) for line in uses)


@pytest.mark.parametrize(
    'words, said',
    [(['7.1'], 'are needed'), (['7.1-rc1', '7.2.0-dev'], "invalid version '7.1-rc1'")],
)
def test_a_release_without_a_version_is_refused(clone, words, said):
    done = release(clone, *words)
    assert done.returncode == 2 and said in done.stderr.splitlines()[0]
    assert not git(clone, 'tag')


def test_a_release_of_uncommitted_changes_is_refused(clone):
    (clone / 'CITATION.cff').write_text('version: 1\n')
    done = release(clone, '7.1.0', '7.2.0-dev')
    assert done.returncode == 2 and 'differs from the last commit' in done.stderr


def test_between_releases_the_version_is_the_next_ones():
    """And the changelog, the citation and the recipe agree with it."""
    version = presets.version()
    assert f'\nversion: {version}\n' in (ROOT / 'CITATION.cff').read_text()
    heads = re.findall(r'^## (\S+)', (ROOT / 'CHANGELOG.md').read_text(), re.M)
    released = re.findall(r'^    version\("([\d.]+)"', (ROOT / RECIPE).read_text(), re.M)
    easybuild = (ROOT / 'ci/entries/membw.eb').read_text()
    (wanted,) = re.findall(r"^version = '(.*)'", easybuild, re.M)
    assert wanted in (version, *released), 'there is no archive of it'
    if version.endswith('-dev'):
        assert heads[0] == 'Unreleased' and version.removesuffix('-dev') not in heads
    else:
        assert version == heads[1] == released[0]
