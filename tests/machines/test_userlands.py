"""README's first line in a fresh Debian file tree without Python: this machine's, an Arm's, and of
another release that has clang alone.

A tree is real, an Arm's processor emulated: compiler, make and sh are Debian's for it.
"""

import json
import os
import shutil
import subprocess

import pytest
from checkout_copy import copy_checkout
from places import ROOT

pytestmark = [pytest.mark.night, pytest.mark.timeout(1800)]  # emulated, on a host that may be busy
COMMAND = 'make -s -C src/stream'
RUN = 'stream -n 1000000 -t 3 --allow array-too-small,clock,translated --json /tmp/r.json'
# the architecture, words of make, the preset that it takes, what it says
TREES = {
    'amd64': ('x86_64', '', 'gcc-o2', 'Verdict: VALID'),
    'arm64': ('aarch64', '', 'gcc-o3', 'allowed: translated: code for aarch64 on a CPU of x86_64'),
    'trixie-amd64': ('x86_64', 'OPENMP=0', 'clang-o2', 'built without OpenMP'),
}


@pytest.mark.parametrize('arch', TREES)
def test_the_first_command_of_readme_builds_and_measures(arch):
    machine, word, build, says = TREES[arch]
    tree = ROOT / f'.venv/.setup/userland-{arch}'
    if not tree.exists() and (
        os.geteuid() or os.environ.get('NO_APT') or not shutil.which('apt-get')
    ):
        pytest.skip(f'no {tree.relative_to(ROOT)}: tests/machines/userland.sh makes it, as root')
    if not tree.exists():
        made = ['bash', ROOT / 'tests/machines/userland.sh', arch, f'{tree}.part']
        subprocess.run(made, check=True)
        tree.with_name(f'{tree.name}.part').rename(tree)
    assert f'`{COMMAND} ' in (ROOT / 'README.md').read_text()
    shutil.rmtree(tree / 'membw', ignore_errors=True)
    copy_checkout(tree / 'membw')

    def said(line):
        words = ['sh', ROOT / 'tests/machines/in-userland.sh', tree, f'cd /membw && {line}']
        done = subprocess.run(words, capture_output=True, text=True, timeout=1500)
        return done.returncode, done.stdout + done.stderr

    assert said('! command -v python3')[0] == 0
    if word:  # what is missing, and the way out
        status, text = said(COMMAND)
        assert status == 2 and 'libomp-dev' in text and word in text, text
    status, text = said(f'{COMMAND} {word} && build/{build}/{RUN}')
    assert status == 0 and says in text, text
    record = json.loads((tree / 'tmp/r.json').read_text())
    assert record['facts']['architecture'] == machine
    assert record['build']['preset'] == build
    assert record['validation']['ok']
