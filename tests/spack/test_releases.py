"""A released version from a later checkout, a developed one, a mirror; by a Spack of its own."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from spack_checkout import COPIED, Checkout, find_spack

pytestmark = [pytest.mark.spack, pytest.mark.night]

PARTS = (
    *COPIED, '.gitignore', 'CHANGELOG-older.md', 'CHANGELOG.md', 'CITATION.cff', 'LICENSE',
    'MANIFEST.in', 'README.md', 'ci', 'pyproject.toml', 'reframe-checks', 'setup-env.sh',
    'setup.py', 'systems',
)  # fmt: skip


def git(folder, *words):
    subprocess.run(['git', *words], cwd=folder, check=True, capture_output=True)


def folder_of(clone):
    (folder,) = clone.root.glob('.spack/store/*/membw-7.1.0-*')
    return folder


def said(clone):
    """What the installed `stream` calls itself, and the spec of its record."""
    folder = folder_of(clone)
    record = json.loads((folder / 'share/membw/membw-stream.json').read_text())
    program = folder / 'bin/membw-stream'
    done = subprocess.run([program, '--version'], capture_output=True, text=True)
    return done.stdout.strip(), record['spec'].partition('~')[0]


@pytest.fixture(scope='module')
def clone(tmp_path_factory):
    """Released as 7.1.0; a commit after it and the working tree cannot be compiled."""
    clone = Checkout(find_spack(), tmp_path_factory.mktemp('clone'), PARTS)
    git(clone.root, 'init', '-q')
    git(clone.root, 'config', 'user.name', 'a test')
    git(clone.root, 'config', 'user.email', 'test@example.org')
    git(clone.root, 'add', '.')
    git(clone.root, 'commit', '-q', '-m', 'all')
    words = ['sh', clone.root / 'ci/release.sh', '7.1.0', '7.2.0-dev']
    own = {'PYTHON': sys.executable, 'CYCLONEDX': 'true'}  # without the network
    subprocess.run(words, check=True, env={**os.environ, **own})
    with open(clone.root / 'src/stream/stream.c', 'a') as source:
        source.write('#error later\n')
    git(clone.root, 'commit', '-q', '-a', '-m', 'later')
    return clone


@pytest.fixture(scope='module')
def installed(clone):
    clone.spack('install', 'membw', 'programs:=stream')
    return clone


def test_without_a_version_the_release_is_built_from_its_tag(installed):
    """That @develop is built from the files of the working tree is in test_spack.py."""
    assert said(installed) == ('stream (membw) 7.1.0', 'membw@7.1.0')


def test_a_mirror_has_the_sources_for_a_clone_without_the_release(installed, tmp_path):
    """The mirror is made here, and installed from where neither tag nor commit is known."""
    spec = '/' + folder_of(installed).name.rpartition('-')[2]
    told = installed.spack('mirror', 'create', '-d', tmp_path / 'mirror', spec)
    assert '1    added' in told and '0    failed' in told
    there = Checkout(find_spack(), tmp_path / 'there', PARTS)
    shutil.copytree(installed.root / 'spack-repo', there.root / 'spack-repo', dirs_exist_ok=True)
    git(there.root, 'init', '-q')
    mirrors = there.root / '.spack/user/mirrors.yaml'
    mirrors.write_text(f'mirrors: {{carried: "file://{tmp_path}/mirror"}}\n')
    there.spack('install', 'membw@7.1.0', 'programs:=stream')
    assert said(there) == ('stream (membw) 7.1.0', 'membw@7.1.0')


def test_spack_develop_builds_the_developed_folder(installed, tmp_path):
    sources, env = tmp_path / 'mine', tmp_path / 'env'
    git(installed.root, 'clone', '-q', '-b', 'v7.1.0', installed.root, sources)
    env.mkdir()
    (env / 'spack.yaml').write_text(
        f"spack:\n  view: {tmp_path}/view\n  specs: ['membw@7.1.0 programs:=stream']\n"
        f"  develop:\n    membw: {{spec: membw@7.1.0, path: '{sources}'}}\n"
    )
    config = sources / 'src/harness/config.h'
    config.write_text(config.read_text().replace('7.1.0', '7.1.0-mine'))
    installed.spack('-e', env, 'install')
    program = pathlib.Path(tmp_path / 'view/bin/membw-stream')
    done = subprocess.run([program, '--version'], capture_output=True, text=True)
    assert done.stdout == 'stream (membw) 7.1.0-mine\n'


def test_the_recipe_for_a_collection_needs_no_clone(installed, tmp_path):
    """It fetches the archive of the release, which ci/release.sh wrote."""
    archive = installed.root / 'build/membw-7.1.0/membw-7.1.0.tar.gz'
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    repository, scope = tmp_path / 'spack_repo/collection', tmp_path / 'scope'
    for folder in (repository / 'packages', scope):
        folder.mkdir(parents=True)
    (repository / 'repo.yaml').write_text('repo: {namespace: collection, api: v2.2}\n')
    (scope / 'repos.yaml').write_text(f'repos: {{collection: {repository}}}\n')
    words = ['ci/collection.py', repository / 'packages', archive.as_uri(), checksum]
    installed.spack('python', *words)
    text = (repository / 'packages/membw/package.py').read_text()
    assert 'spack_repo.membw' not in text and str(installed.root / 'src') not in text
    installed.spack('-C', scope, 'install', 'collection.membw', 'programs:=pingpong')
    folder = next(installed.root.glob('.spack/store/*/membw-7.1.0-*/bin/membw-pingpong'))
    done = subprocess.run([folder, '--version'], capture_output=True, text=True)
    assert done.stdout == 'pingpong (membw) 7.1.0\n'
