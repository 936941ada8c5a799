"""What ReFrame keeps of a site's own tests, with figures made up; its form is that of 4.10, as
tests/membw/results/test_site_tests.py proves with a session of ReFrame itself."""

import json
import random
import sqlite3

from made_up_records import DAY, START, name

REFERENCE = (1000.0, -0.05, None)


def case(test, node, when=START, figures=None, **more):
    """A test case; `figures`: {metric: (value, unit, reference, lower, upper)}."""
    figures = figures or {'perf': (1200.0, 'Gflop/s', *REFERENCE)}
    values = {f'daint:mc:{m}': [v, *ref, unit, 'pass'] for m, (v, unit, *ref) in figures.items()}
    return {
        'name': test, 'display_name': test, 'system': 'daint', 'partition': 'mc', 'environ': 'gnu',
        'result': 'pass', 'fixture': False, 'fail_phase': None, 'fail_reason': None,
        'job_nodelist': [node] if isinstance(node, str) else node, 'job_exitcode': 0,
        'job_completion_time_unix': when, 'perfvalues': values, **more,
    }  # fmt: skip


def hpl(node, share=1.0, when=START, **more):
    figures = {'perf': (1200.0 * share, 'Gflop/s', *REFERENCE)}
    return case('hpl %nb=192', node, when, figures, **more)


def fleet(nodes, day=0.0, slow=(), seed=1, noise=0.004):
    """hpl on n001 ..; `slow`: {node number: share of the figure that it reaches}."""
    rng = random.Random(seed + int(day * 100))
    share = dict(slow)
    return [
        hpl(name(n), share.get(n, 1.0) * rng.gauss(1, noise), START + day * DAY)
        for n in range(1, nodes + 1)
    ]


def report(cases, begun=START):
    info = {'uuid': f'u{begun}', 'time_start_unix': begun, 'time_end_unix': begun + 60}
    return {'session_info': info, 'runs': [{'testcases': cases}], 'restored_cases': []}


def write(path, cases):
    path.write_text(json.dumps(report(cases)))
    return path


def database(path, reports, version='1.0'):
    with sqlite3.connect(path) as base:
        base.execute(
            'CREATE TABLE sessions(uuid TEXT PRIMARY KEY, session_start_unix REAL, '
            'session_end_unix REAL, json_blob TEXT, report_file TEXT)'
        )
        base.execute('CREATE TABLE metadata(schema_version TEXT)')
        base.execute('INSERT INTO metadata VALUES(?)', (version,))
        for number, one in enumerate(reports):
            info = one['session_info']
            row = number, info['time_start_unix'], info['time_end_unix'], json.dumps(one), ''
            base.execute('INSERT INTO sessions VALUES(?, ?, ?, ?, ?)', row)
    return path
