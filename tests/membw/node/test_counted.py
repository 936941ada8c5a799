"""Counters of the kernel, from planted files, and how a launch ended."""

import os
import re

import made_up_nodes as nodes
import made_up_records as made
import pytest
from places import ROOT

from membw.node import counters, quantities
from membw.node.battery import launch
from membw.results.record import Metric, Part, evidence_of


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


def test_of_the_reads_across_domains_the_slowest_counts():
    """One slow link of several is one."""
    reads = {(0, 0): 200.0, (0, 1): 90.0, (1, 0): 70.0, (1, 1): 60.0, (2, 1): 80.0}
    rows = made.metrics({f'read_gbs_{a}_{b}': gbs for (a, b), gbs in reads.items()})
    for (cpu, memory), row in zip(reads, rows.values(), strict=True):
        at = {'cpu_domain': cpu, 'memory_domain': memory}
        row.update(series='read_gbs', at=at)
    record = evidence_of(made.record(rows=rows, program='tiers'))
    found = quantities._of_part(Part('tiers', record, '', False), {})
    assert found['read_gbs_across'].value == 70


@pytest.mark.parametrize('part', ['stream', 'ladder', 'late'])
def test_who_took_cpu_time_of_one_part_took_it(part):
    node = nodes.node(busy={part: {'other_share': 0.4, 'stolen_share': 0.2}})
    found = quantities.counted_of(evidence_of(node))
    assert (found['other_share'], found['stolen_share']) == (0.4, 0.2)
