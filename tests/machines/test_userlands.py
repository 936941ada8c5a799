"""README's first line in a fresh Debian file tree without Python, this machine's and an Arm's.

A tree is real, its processor emulated: gcc, make, sh and awk are Debian's for it.
"""

import json
import shutil
import subprocess

import pytest
from checkout_copy import copy_checkout
from places import ROOT

pytestmark = pytest.mark.night
TREES = {'amd64': 'x86_64', 'arm64': 'aarch64'}


@pytest.mark.parametrize('arch', TREES)
def test_the_first_command_of_readme_builds_and_measures(arch):
    tree = ROOT / f'.venv/.setup/userland-{arch}'
    if not tree.exists():
        pytest.skip(f'no {tree.relative_to(ROOT)}: tests/machines/userland.sh makes it')
    command = 'make -s -C src/stream'
    assert f'    {command} ' in (ROOT / 'README.md').read_text()
    shutil.rmtree(tree / 'membw', ignore_errors=True)
    copy_checkout(tree / 'membw')
    build = 'gcc-o2' if TREES[arch] == 'x86_64' else 'gcc-o3'
    run = f'build/{build}/stream -n 1000000 -t 3 --allow array-too-small,clock --json /tmp/r.json'
    words = ['sh', ROOT / 'tests/machines/in-userland.sh', tree]
    words.append(f'cd /membw && ! command -v python3 && {command} && {run}')
    done = subprocess.run(words, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0 and 'Verdict: VALID' in done.stdout, done.stdout + done.stderr
    record = json.loads((tree / 'tmp/r.json').read_text())
    assert record['facts']['architecture'] == TREES[arch]
    assert record['build']['preset'] == build
    assert record['validation']['ok']
