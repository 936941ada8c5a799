"""Counters of the kernel, and who took the CPUs: from planted files, and for real."""

import os
import re
import subprocess
import sys
import time

import pytest
from places import ROOT

from membw.node import counters, trace
from membw.node.launch import launch


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
    registers = plant(tmp_path, {'dev/cpu/0/msr': ''}) / 'dev/cpu/0/msr'
    registers.write_bytes(bytes(0x34) + (9).to_bytes(8, 'little'))
    found = counters.read(tmp_path)
    assert found == {
        'corrected_errors': 7, 'thermal_throttles': 5, 'machine_checks': 3, 'pages_migrated': 7,
        'pages_swapped': 6, 'quota_throttles': 8, 'smi': 9,
    }  # fmt: skip
    assert counters.uncore_khz(tmp_path) == 2_400_000
    assert counters.read(tmp_path / 'nothing') == {}
    assert counters.between({'a': 1, 'b': 2}, {'a': 4}) == {'a': 3}


def snapshot(at, busy, processes):
    ticks = {'user': busy, 'idle': 100.0, 'steal': at * 0.2}
    return trace.Snapshot(at, 2, ticks, processes)


def test_the_time_of_other_processes_unaccounted_and_stolen_are_apart():
    before = snapshot(0.0, 0.0, {1: ('own', 0.0), 2: ('hog', 5.0)})
    after = snapshot(10.0, 15.0, {1: ('own', 9.0), 2: ('hog', 7.0), 3: ('new', 1.0)})
    found = trace.between(before, after, {1}, 9.0)
    assert found['processes'][0] == {'name': 'hog', 'pid': 2, 'cpu_s': 2.0}
    assert (found['other_s'], found['steal_s']) == (3.0, 2.0)
    assert 2.9 < found['unaccounted_s'] <= 3.0  # 15 busy, 9 own, 3 of other processes
    assert found['steal_share'] == 0.1


def test_a_process_beside_the_battery_is_named(monkeypatch):
    monkeypatch.setattr(trace, 'SHOWN', 1000)
    line = [sys.executable, '-c', 'while True: pass']
    with subprocess.Popen(line) as hog:
        try:
            time.sleep(0.2)  # until it spins
            done = launch(['sh', '-c', 'sleep 0.5'], os.environ, 10)
        finally:
            hog.kill()
    assert hog.pid in [row['pid'] for row in done['trace']['processes']]


def test_a_program_that_was_stopped_is_seen_so_and_one_that_takes_too_long_is_not_dead():
    text = '(sleep 0.5; kill -CONT $$) & kill -STOP $$; wait'
    done = launch(['sh', '-c', text], os.environ, 10)
    assert done['stopped'] > 0 and not done['died']
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
