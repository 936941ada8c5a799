"""What a record says of itself, by whatever way its program was started."""

import json
import os
import subprocess

import pytest
from record_schema import check

WRONG_HERE = 'array-too-small,too-short,oversubscribed,wrong-pinning'
STREAM = ['-n', '1e5', '-t', '5']
# a metric more, behind the others, as anybody may add one
ONE_MORE = (
    'stream/output/record.c',
    'return record_text(&stream_program, run, size);',
    'metric("slowest_s", 1, "s", LOWER);\n\treturn record_text(&stream_program, run, size);',
)
NO_TRIAD = ('stream/output/record.c', '.headline = "triad"', '.headline = "triads"')


def record_of(path, program, *options):
    words = [program, *options, '--allow', WRONG_HERE, '--json', path]
    env = os.environ | {'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert path.exists(), done.stdout + done.stderr
    return check(json.loads(path.read_text()))


@pytest.mark.parametrize('change, headline', [(ONE_MORE, 'triad'), (NO_TRIAD, 'copy')])
def test_the_metric_that_stands_for_a_run_is_its_programs_not_the_last(
    build_program, tmp_path, change, headline
):
    record = record_of(tmp_path / 'r', build_program('stream', changes=(change,)), *STREAM)
    assert record['headline'] == headline


def test_of_programs_with_metrics_named_at_run_time_the_first_or_last_of_a_kind_stands(
    build_program, tmp_path
):
    record = record_of(tmp_path / 'p', build_program('pingpong'), '--seconds', '0.01')
    assert record['headline'] == next(iter(record['metrics']))
    few = ['--array-mib', '8', '--rounds', '3']
    record = record_of(tmp_path / 't', build_program('tiers'), *few)
    assert record['headline'] == [n for n in record['metrics'] if n.startswith('triad_')][-1]
