"""What Spack reads of this repository, copied, with a configuration and a store of its own.

The lines of -O2 are of -O0 there: nothing that is built is judged, and compilers took the time.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest
from checkout_copy import copy_checkout, variables
from places import ROOT

# of rows on stdin: their paths on stdout, the shell lines that build them on stderr
WRITE_ROWS = """
import json, sys
from membw.presets import spack_rows
paths = spack_rows.write(sys.argv[1], 'stream', json.load(sys.stdin))
sys.stderr.writelines(f'{line}\\n' for line in spack_rows.commands(sys.argv[1], paths))
print(json.dumps({name: str(path) for name, path in paths.items()}))
"""
COPIED = ('configs', 'spack-repo', 'spack-repo-index.yaml', 'src')


def find_spack():
    """The one on PATH, of SPACK_ROOT, or of the set-up, with the pinned builtin packages."""
    roots = [os.environ.get('SPACK_ROOT'), ROOT / '.spack/spack']
    places = [shutil.which('spack')] + [f'{root}/bin/spack' for root in roots if root]
    found = [place for place in places if place and os.access(place, os.X_OK)]
    if not found:
        pytest.skip('no spack: none on PATH, in SPACK_ROOT or in .spack/spack (make setup)')
    if not (ROOT / '.spack/packages/repos').is_dir():
        pytest.skip('no pinned package repository in .spack/packages (make setup)')
    return found[0]


class Checkout:
    """A copy of what Spack reads of this repository, with a store of its own."""

    def __init__(self, spack, root, parts=COPIED):
        self.spack_command, self.root = spack, root
        self.machine = root / 'machine'  # a scope: what this machine has
        copy_checkout(root, parts)
        self.edit('configs/presets.yaml', "'-O2 {openmp}", "'-O0 {openmp}")
        generate = [sys.executable, '-m', 'membw.presets.generate']
        subprocess.run(generate, env={**os.environ, **variables(root)}, check=True)
        user = root / '.spack/user'
        user.mkdir(parents=True)
        (root / '.spack/packages').symlink_to(ROOT / '.spack/packages')
        (user / 'include.yaml').write_text(
            'include:\n- name: membw\n  path: ../../configs/spack\n'
        )
        # a site that caches concretizations: our guard against old sources must hold all the same
        system = root / '.spack/system'
        system.mkdir()
        (system / 'concretizer.yaml').write_text(
            f'concretizer:\n  concretization_cache: {{enable: true, url: {root}/.spack/solved}}\n'
        )
        # `spack test results` tells of all tests in there
        (system / 'config.yaml').write_text(f'config:\n  test_stage: {root}/.spack/tested\n')

    def spack(self, *words, expect=0):
        python = ROOT / '.venv/bin/python'
        env = {
            **os.environ,
            'SPACK_USER_CONFIG_PATH': str(self.root / '.spack/user'),
            'SPACK_SYSTEM_CONFIG_PATH': str(self.root / '.spack/system'),
            'SPACK_USER_CACHE_PATH': str(ROOT / '.spack/cache'),  # the index of 8,600 packages
            'SPACK_PYTHON': str(python if python.exists() else sys.executable),
        }
        done = subprocess.run(
            [self.spack_command, *map(str, words)],
            cwd=self.root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == expect, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    def write_rows(self, folder, rows):
        """({environ: path}, [shell lines]) of this copy's rows, as its own library writes them."""
        done = subprocess.run(
            [sys.executable, '-c', WRITE_ROWS, folder],
            env={**os.environ, **variables(self.root)},
            input=json.dumps(rows),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr.splitlines()

    def edit(self, name, old, new):
        path = self.root / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def installed(self, program, variant=''):
        """The build record of the one in the store that has this variant."""
        paths = self.root.glob(f'.spack/store/**/share/membw/membw-{program}.json')
        records = [json.loads(path.read_text()) for path in paths]
        (record,) = [record for record in records if variant in record['spec']]
        return record
