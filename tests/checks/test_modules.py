"""A row whose compiler is in a module, run for real under Lmod and under Environment Modules."""

import json

import modules_systems
import posed
import pytest
import standin_gcc
from checkout_copy import copy_checkout, variables

ALLOWED = 'array-too-small,too-short,disturbed,unstable,oversubscribed'
MODULE = """#%Module
prepend-path PATH {folder}
setenv KMP_BLOCKTIME 71
"""


@pytest.mark.parametrize('system, checks', [('lmod', ''), ('envmod', 'stream.py')])
def test_a_row_with_a_module_is_built_and_run_with_it(
    reframe, environment, tmp_path, system, checks
):
    """The row before it lacks its module: that is the first one, where ReFrame would run the
    fixture of the session."""
    checkout = copy_checkout(tmp_path / 'checkout')
    presets = {'presets': ['gcc-o3']}
    gone = {'family': 'gcc', 'cc': 'gcc', 'modules': ['compiler/9.9'], **presets}
    there = {'cc': 'cc-of-the-module', 'modules': ['compiler/7.1'], **presets}
    posed.write(checkout, {'toolchains': {'gone': gone, 'gcc': there}}, modules_system=system)
    compilers, files = tmp_path / 'compilers', tmp_path / 'modulefiles/compiler'
    for folder in (compilers, files):
        folder.mkdir(parents=True)
    standin_gcc.put_up(compilers, name='cc-of-the-module')
    (files / '7.1').write_text(MODULE.format(folder=compilers))
    shell = modules_systems.shell(system, tmp_path, files.parent) | variables(checkout)
    shell['PATH'] = f'{environment["PATH"]}:{shell["PATH"]}'
    words = ('-r', '--system', 'posed', '-n', 'stream%pinning=none')
    given = {'array_size': 100000, 'ntimes': 3, 'allow': ALLOWED}
    done = reframe(checks, *words, root=checkout, given=given, **shell)
    ran, gone = sorted(done.ran, key=lambda case: case['environ'] == 'gone-o3')
    assert (ran['result'], gone['result'], done.code) == ('pass', 'fail_deps', 1), done.text
    assert ran['build']['compile_line'].startswith('cc-of-the-module -O3 ')
    # the job ran with it as well, and the build says which it was
    assert 'KMP_BLOCKTIME=71' in ran['run_environment'].split()
    builds = [json.loads(p.read_text()) for p in done.folder.glob('builds/*/build.json')]
    assert [build['modules'] for build in builds] == [['compiler/7.1']]
    assert "gone-o3 needs module 'compiler/9.9': not available here" in done.text
