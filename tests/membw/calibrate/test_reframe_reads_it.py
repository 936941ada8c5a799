"""ReFrame compares a run with the references that `membw calibrate` wrote."""

import made_up_records as made_up
import standin_gcc
from checkout_copy import copy_checkout, variables

from membw.cli import main

POSED = """\
name: posed
descr: this machine
hostnames: ['posed']
sources: [a test]
partitions:
- {name: here, descr: all of it, scheduler: local, launcher: local, max_jobs: 1, features: auto,
   toolchains: {gcc: {cc: gcc, presets: [gcc-o2]}}}
"""
TINY = ('-Sstream.array_size=1000000', '-Sstream.ntimes=3',
        '-Sstream.allow=array-too-small,too-short,disturbed,unstable')  # fmt: skip


def test_reframe_compares_and_warns_of_an_old_reference(tmp_path, monkeypatch, call, environment):
    copy_checkout(tmp_path)
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    (tmp_path / 'systems/posed.yaml').write_text(POSED)
    case = {'case__system': 'posed', 'case__partition': 'here', 'case__pinning': 'none'}
    made = made_up.runs({'n1': 9e6}, 5, **case)  # no memory reads so much
    words = ['calibrate', '--system', 'posed', '--expires', '1']
    assert main([*words, str(made_up.write(tmp_path / 'runs.jsonl', made))]) == 0
    file = tmp_path / 'systems/references/posed.yaml'
    text = file.read_text().replace('-0.04, 0.08', '-1.0, 0.0')
    day = text.split("expires: '")[1][:10]
    file.write_text(text.replace(day, '2026-01-31'))
    tools = standin_gcc.put_up(tmp_path / 'tools')
    done = call(
        'reframe', '--nocolor', '-c', tmp_path / 'reframe-checks/stream.py', '-r',
        '--system', 'posed', '-n', 'stream%pinning=none', *TINY, '--prefix', tmp_path / 'out',
        cwd=tmp_path, RFM_ENABLE_RESULTS_STORAGE='0', MEMBW_BUILD='make',
        **variables(tmp_path), PATH=f'{tools}:{environment["PATH"]}',
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0 and 'GB/s (r:9000360.0, l:-1.0, u:0.0)' in said, said
    assert 'the reference expired on 2026-01-31: membw calibrate --system posed' in said
