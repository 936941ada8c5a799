"""Which rows Spack is asked for: those that a check runs, and none again that it has built."""

import posed
import pytest
import yaml
from checkout_copy import copy_checkout, variables

from membw.presets import spack_rows


def rows(*presets):
    return [{'environ': name, 'preset': name, 'cc': 'gcc'} for name in presets]


def specs(folder):
    return yaml.safe_load((folder / 'spack.yaml').read_text())['spack']['specs']


def built(folder, paths):
    """As if Spack had been there."""
    (folder / 'spack.lock').write_text('{}')
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_a_few_rows_of_those_that_are_built_need_no_spack_nor_do_all_of_them_afterwards(tmp_path):
    every = spack_rows.write(tmp_path, 'stream', rows('gcc-o2', 'gcc-o3'))
    built(tmp_path, every)
    one = spack_rows.write(tmp_path, 'stream', rows('gcc-o3'))
    assert one == {'gcc-o3': every['gcc-o3']}
    assert spack_rows.commands(tmp_path, one) == [] == spack_rows.commands(tmp_path, every)
    more = spack_rows.write(tmp_path, 'stream', rows('gcc-o3', 'gcc-freestanding'))
    assert len(spack_rows.commands(tmp_path, more)) == 1 and len(specs(tmp_path)) == 2


@pytest.mark.parametrize('others', ['sources', 'CPU'])
def test_rows_of_others_are_built_again_and_only_requested_ones(tmp_path, monkeypatch, others):
    built(tmp_path, spack_rows.write(tmp_path, 'stream', rows('gcc-o2', 'gcc-native')))
    if others == 'sources':
        (tmp_path / 'fingerprint').write_text('of sources that were edited since')
    else:
        monkeypatch.setattr(spack_rows.presets, 'cpu', lambda: 'model name: of another node')
    one = spack_rows.write(tmp_path, 'stream', rows('gcc-native'))
    assert len(specs(tmp_path)) == 1 and len(spack_rows.commands(tmp_path, one)) == 1


def test_reframe_asks_for_the_rows_that_its_checks_run(tmp_path, call):
    """By a Spack that builds nothing: `nbody` is measured by one row of each compiler, `stream`
    by all of them, and by what `-p` leaves."""
    house = copy_checkout(tmp_path / 'house')
    gcc = {'gcc': {'cc': 'gcc', 'presets': ['gcc-o3', 'gcc-native', 'gcc-freestanding']}}
    partition = {'features': ['x86_64'], 'extras': {'build': 'spack'}, 'toolchains': gcc}
    posed.write(house, partition)
    spack = tmp_path / 'bin/spack'
    spack.parent.mkdir()
    spack.write_text('#!/bin/sh\n[ "$1" != --version ] || echo 1.1.0\n')
    spack.chmod(0o755)
    path = f'{spack.parent}:/usr/bin:/bin:/usr/sbin'
    reframe = call('which', 'reframe').stdout.strip()
    asked = {}
    for name, words in {'nbody': (), 'stream': ('-p', 'gcc-(o3|native)')}.items():
        check = house / f'reframe-checks/{name}.py'
        done = call(reframe, '-c', check, '-r', '-n', f'^{name}%', *words,
                    '--system', 'posed', cwd=house, PATH=path, **variables(house))  # fmt: skip
        assert done.returncode == 1 and 'Spack built no preset' in done.stdout, done.stdout
        found = specs(house / 'results/spack/posed' / name)
        asked[name] = [word for spec in found for word in spec.split() if 'preset' in word]
    assert asked == {
        'nbody': ['preset=gcc-native'],
        'stream': ['preset=gcc-o3', 'preset=gcc-native'],
    }
