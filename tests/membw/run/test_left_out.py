"""What a machine cannot build is told, with the reason."""

import pytest

from membw.errors import MembwError
from membw.run import refusals
from membw.run.session import has_other_systems, partitions_of

PARTITIONS = [
    {'extras': {'left_out': {'icc-o2': "no 'icc'", 'icc-avx2': "no 'icc'"}}},
    {'extras': {'left_out': {'icc-o2': "no 'icc'", 'gcc-avx2': 'needs avx2'}}},
    {'extras': {}},
]


def test_a_reason_is_given_once_for_all_partitions(tmp_path):
    texts = refusals.left_out(['-p', 'icc-.*', '-p', 'gcc-avx2'], PARTITIONS)
    assert texts == ["icc-o2, icc-avx2: no 'icc'", 'gcc-avx2: needs avx2']
    (tmp_path / 'run.ledger').touch()  # of no case
    for preset, is_named in (('icc-o2', True), ('gcc-o2', False)):
        with pytest.raises(MembwError) as caught:
            refusals.refuse_nothing(str(tmp_path / 'run'), None, ['-p', preset], [], PARTITIONS)
        assert ("left out here is icc-o2: no 'icc'" in str(caught.value)) == is_named


def test_a_run_names_what_is_left_out_of_the_presets_it_was_given(call, one_run):
    done = call('membw', 'run', '--system', 'ulysses', '-n', 'stream', '-p', 'gcc-(o2|avx2)')
    assert 'left out here is gcc-avx2: needs avx2, which the CPU does not have\n' in done.stderr
    assert 'icc-avx2' not in done.stdout + done.stderr


def test_systems_of_other_configurations_are_reframes_to_know(monkeypatch):
    monkeypatch.delenv('RFM_CONFIG_FILES', raising=False)
    for system, fact in (('ulyses', 'no system'), ('local:defalt', 'no partition')):
        with pytest.raises(MembwError, match=fact):
            partitions_of(system)
        assert partitions_of(system, ['-C', 'site.py']) == []
    monkeypatch.setenv('RFM_CONFIG_FILES', 'site.py')
    assert has_other_systems([])
