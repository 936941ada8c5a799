"""Writes results as the checks leave them: ReFrame's database, by ReFrame's own storage code."""

import json
from datetime import datetime, timezone

import numpy as np

RATES = ('copy', 'scale', 'add', 'triad')


def case(host, seconds, rates, **fields):
    """A test case as `stream` logs it; `rates` in GB/s, one a kernel of RATES."""
    system, partition = fields.pop('where', 'synthetic:node').split(':')
    moment = datetime.fromtimestamp(seconds, timezone.utc).isoformat()
    figures = {
        f'{system}:{partition}:{kernel}': [float(rate), None, None, None, 'GB/s', 'pass']
        for kernel, rate in zip(RATES, rates, strict=True)
    }
    return {
        'name': f'stream %pinning={fields.get("pinning", "likwid")}', 'fixture': False,
        'system': system, 'partition': partition, 'environ': 'gcc-o2', 'pinning': 'likwid',
        'result': 'pass', 'fail_phase': None, 'fail_reason': None, 'verdict': 'VALID',
        'reasons': '', 'job_completion_time': moment, 'job_completion_time_unix': seconds,
        'job_nodelist': [host], 'node': host, 'record': '', 'allow': '',
        'array_size': 800000000, 'ntimes': 20, 'threads': 24, 'compiler': 'gcc 12.2.0',
        'compile_line': 'gcc -O2 -fopenmp', 'source_sha256': 'a' * 64, 'binary_sha256': 'b' * 64,
        'kernel_release': '5.14.0-427', 'thp': 'madvise', 'numa_balancing': '0',
        'perfvalues': figures, **fields,
    }  # fmt: skip


def sessions_of(series, where='synthetic:node'):
    """The test cases of each night of a synthetic history (history_generator.py)."""
    for column, day in enumerate(series.nights):
        rows = np.flatnonzero(series.software[:, column] >= 0)
        yield [
            case(
                series.nodes[n], int(day) * 86400 + 7200, series.rates[:, n, column],
                where=where, **series.provenances[series.software[n, column]],
            )
            for n in rows
        ]  # fmt: skip


def report(number, cases):
    """One session; ReFrame numbers its test cases."""
    uuid = f'session-{number}'
    begun = cases[0]['job_completion_time_unix'] - 60.0
    for i, one in enumerate(cases):
        one['uuid'] = f'{uuid}:0:{i}'
    return {
        'session_info': {
            'data_version': '4.2', 'uuid': uuid, 'time_start_unix': begun,
            'time_end_unix': cases[-1]['job_completion_time_unix'] + 1.0,
        },
        'runs': [{'run_index': 0, 'testcases': cases}],
    }  # fmt: skip


def write_report(path, cases):
    """A report of one run, as `reframe --report-file` writes it."""
    path.write_text(json.dumps(report(0, cases)))


def store(path, sessions, first=0):
    """Each session (a list of cases) into ReFrame's database at `path`, numbered from `first`."""
    from reframe.core import config, runtime
    from reframe.frontend.reporting.storage import StorageBackend

    site = config.load_config('<builtin>')
    site.select_subconfig('generic')
    runtime.init_runtime(site)  # the first one stays
    runtime.runtime().site_config.add_sticky_option('storage/sqlite_db_file', str(path))
    base = StorageBackend.default()
    for number, cases in enumerate(sessions, first):
        if cases:
            base.store(json.loads(json.dumps(report(number, cases))), 'report.json')
    return path
