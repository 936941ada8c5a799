"""Real modules systems of the distribution: what a shell that has loaded one of them exports.

Debian's packages of Lmod and Environment Modules exclude each other: ci/test.sh installs the
first and unpacks the second.
"""

import shutil
import subprocess

import pytest
from places import ROOT

LMOD = '/usr/share/lmod/lmod/init/bash'
UNPACKED = ROOT / '.venv/.setup/environment-modules'


def lmod(_):
    """Lines of bash that start it."""
    if not shutil.which('/usr/share/lmod/lmod/libexec/lmod'):
        pytest.skip('Lmod is not installed')
    return f'. {LMOD}'


def envmod(folder):
    """Its command is found on the PATH, as ReFrame asks it."""
    found = sorted(UNPACKED.glob('usr/lib/*/modulecmd.tcl'))
    if not found or not shutil.which('tclsh8.6'):
        pytest.skip('Environment Modules are not unpacked')
    folder.mkdir()
    (folder / 'modulecmd').write_text(f'#!/bin/sh\nexec tclsh8.6 {found[0]} "$@"\n')
    (folder / 'modulecmd').chmod(0o755)
    function = 'module() { eval "$(modulecmd bash "$@")"; }; export -f module'
    return f'export PATH={folder}:$PATH; {function}'


def shell(name, folder, modulefiles):
    """{variable: value} of a shell with that modules system and a folder of module files."""
    begin = {'lmod': lmod, 'envmod': envmod}[name](folder / 'bin')
    script = f'{begin}; module use {modulefiles}; env -0'
    done = subprocess.run(['bash', '-c', script], capture_output=True, text=True, check=True)
    return dict(pair.split('=', 1) for pair in done.stdout.split('\0') if '=' in pair)
