"""Counters of the kernel, from planted files, and how a launch ended."""

import os
import re

import pytest
from places import ROOT

from membw.node import counters, quantities
from membw.node.battery import launch
from membw.results.record import Metric, Part


def plant(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


FILES = {
    'sys/devices/system/edac/mc/mc0/ce_count': '3\n',
    'sys/devices/system/edac/mc/mc1/ce_count': '4\n',
    'sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count': '5\n',
    'sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz': '2400000\n',
    'proc/interrupts': '      CPU0  CPU1\n MCE:  1  2  Machine check exceptions\n',
    'proc/vmstat': 'pswpin 6\nnuma_pages_migrated 7\n',
    'proc/self/cgroup': '0::/job/step\n',
    'sys/fs/cgroup/job/step/cpu.stat': 'nr_periods 9\nnr_throttled 8\n',
}


def test_what_is_there_is_counted_and_what_is_not_there_is_not_0(tmp_path):
    plant(tmp_path, FILES)
    found = counters.read(tmp_path)
    assert found == {
        'corrected_errors': 7, 'thermal_throttles': 5, 'machine_checks': 3, 'pages_migrated': 7,
        'pages_swapped': 6, 'quota_throttles': 8,
    }  # fmt: skip
    assert counters.uncore_khz(tmp_path) == 2_400_000
    assert counters.read(tmp_path / 'nothing') == {}
    assert counters.between({'a': 1, 'b': 2, 'c': 5}, {'a': 4, 'c': 4}) == {'a': 3}


def test_one_that_takes_too_long_is_ended_and_is_not_dead():
    done = launch(['sh', '-c', 'exec sleep 9'], os.environ, 0.1)
    assert (done['why'], done['died']) == ('not measured within 0 s', False)


WANTED = re.search(r'\n\t(HUP[ |\w]+)\)', (ROOT / 'ci/entries/membw-health').read_text())[1]
SIGNALS = {name: False for name in WANTED.split(' | ')} | dict.fromkeys(('BUS', 'SEGV'), True)


@pytest.mark.parametrize('name', SIGNALS)
def test_a_signal_is_a_finding_as_in_the_health_checks(name, tmp_path):
    program = tmp_path / 'program'
    program.write_text(f'#!/bin/sh\nkill -{name} $$\n')
    program.chmod(0o755)
    assert launch([str(program)], {}, 20)['died'] == SIGNALS[name]


@pytest.mark.parametrize('better, bound, is_kept', [
    ('higher', None, True), ('higher', 'lower', True), ('higher', 'upper', False),
    ('higher', 'unknown', False), ('lower', 'upper', True), ('lower', 'lower', False),
])  # fmt: skip
def test_what_may_be_worse_than_it_reads_is_no_figure_of_a_node(better, bound, is_kept):
    one = Metric(1.0, 'GB/s', better, bound=bound)
    assert bool(quantities._firm({'x': one}, Part('stream', None, '', False))) == is_kept
