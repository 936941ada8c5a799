"""ci/release.sh, in a clone of its own; what Spack makes of it is in tests/spack."""

import re
import subprocess

import pytest
from checkout_copy import copy_checkout
from places import ROOT

from membw import presets

PARTS = ('.gitignore', 'CHANGELOG.md', 'CITATION.cff', 'ci', 'spack-repo', 'src')
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


def release(clone, *words):
    return subprocess.run(
        ['sh', clone / 'ci/release.sh', *words], capture_output=True, text=True, timeout=60
    )


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
    assert (clone / 'build/membw-7.1.0.tar.gz').is_file()
    again = release(clone, '7.1.0', '7.2.0-dev')
    assert again.returncode == 2 and "tag 'v7.1.0' exists" in again.stderr


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
