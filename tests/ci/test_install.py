"""make install: programs, records and a module in a prefix, of what the Containerfile copies."""

import json
import os
import re
import subprocess

import modules_systems
import pytest
import standin_gcc
from checkout_copy import copy_checkout
from places import ROOT

COPIED = re.findall(r'^COPY (\w+) ', (ROOT / 'ci/entries/Containerfile').read_text(), re.M)


@pytest.fixture(scope='module')
def prefix(tmp_path_factory):
    """By a gcc that does not optimize, and no Python."""
    place = tmp_path_factory.mktemp('copy')
    root = copy_checkout(place / 'with a blank', COPIED)
    prefix, tools = place / 'there', standin_gcc.put_up(place / 'tools')
    words = [f'PREFIX={prefix}', 'PROGRAMS=stream pingpong', 'PYTHON=no-python']
    done = subprocess.run(
        ['make', 'install', *words],
        cwd=root,
        env={**os.environ, 'PATH': f'{tools}:{os.environ["PATH"]}'},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return prefix


def test_the_programs_are_there_with_the_records_of_their_builds(prefix):
    for name in ('stream', 'pingpong'):
        program = prefix / f'bin/membw-{name}'
        done = subprocess.run([program, '--version'], capture_output=True, text=True)
        assert done.stdout.startswith(f'{name} (membw) ')
        record = json.loads((prefix / f'share/membw/membw-{name}.json').read_text())
        assert record['program'] == name and record['preset'] in ('gcc-o2', 'gcc-o3')


@pytest.mark.parametrize('system', ['lmod', 'envmod'])
def test_the_module_puts_them_on_the_path(prefix, tmp_path, system):
    begin = {'lmod': modules_systems.lmod, 'envmod': modules_systems.envmod}[system]
    script = f'{begin(tmp_path / "bin")}; module use {prefix}/share/modulefiles; module load membw'
    done = subprocess.run(
        ['bash', '-c', f'{script}; command -v membw-pingpong'], capture_output=True, text=True
    )
    assert done.stdout.strip() == f'{prefix}/bin/membw-pingpong', done.stderr


def test_without_a_prefix_nothing_is_built():
    done = subprocess.run(['make', 'install'], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith('membw: no PREFIX')
