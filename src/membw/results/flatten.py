"""Everything that is known of one result, flat and by group: what two results are compared by."""

import shlex

from membw.results import case as of_case
from membw.results.metrics import intervals, of_record
from membw.results.provenance import without_output

GROUPS = ('validity', 'build', 'run', 'facts')
# of ReFrame's test case: where a field of ours comes from
BUILD = ('compiler', 'source_sha256', 'code_sha256', 'binary_sha256', 'spack_hash', 'built_with',
         'commit')  # fmt: skip
RUN = ('system', 'partition', 'environ', 'pinning', 'modules', 'env_vars', 'run_environment',
       'num_tasks', 'num_cpus_per_task', 'use_multithreading', 'scheduler')  # fmt: skip
# of the program's record
RUN_OF_RECORD = ('program', 'version', 'language', 'kernels_set', 'array_size', 'offset', 'ntimes',
                 'element_bytes', 'threads', 'ranks', 'llc_mib', 'scheduling')  # fmt: skip


def figures(result):
    """{name: (value, unit)}: the record's metrics, and what else the check measured."""
    known = {name: (f.value, f.unit) for name, f in of_case.figures(result.case).items()}
    values, measured = of_record(result.record) if result.record else ({}, ())
    return known | {m.name: (values[m.name], m.unit) for m in measured if m.name not in known}


def spans(result):
    """{name: (low, high)} of the record's metrics that have an interval."""
    return intervals(result.record) if result.record else {}


def fields(result):
    """{group: {field: value}}; fields that are not known are not there."""
    groups = {
        'validity': _validity(result),
        'build': _build(result),
        'run': _run(result),
        'facts': dict(_flat(result.record.get('facts') or {})),
    }
    return {g: {k: v for k, v in f.items() if v not in (None, '', [])} for g, f in groups.items()}


def _validity(result):
    record, case = result.record, result.case
    reasons = record.get('reasons') or []
    return {
        'verdict': case.get('verdict') or record.get('verdict'),
        'result': case.get('result'),
        'reasons': case.get('reasons') or ', '.join(r['reason'] for r in reasons),
        'warnings': ', '.join(w['reason'] for w in record.get('warnings') or []),
        'validated': (record.get('validation') or {}).get('ok'),
    }


def _build(result):
    case, of_record = result.case, result.record.get('build') or {}
    line = result.build.get('compile_line') or shlex.split(case.get('compile_line') or '')
    values = {name: case.get(name) or result.build.get(name) for name in BUILD}
    values['spack_hash'] = values['spack_hash'] or result.build.get('dag_hash')
    values['preset'] = result.build.get('preset')
    values['compile_line'] = shlex.join(without_output(line))
    values['flags'] = of_record.get('flags')
    values['built_in_compiler'] = of_record.get('compiler')
    values['openmp'] = of_record.get('openmp')
    values['stores'] = case.get('stores')
    return values


def _run(result):
    record, case = result.record, result.case
    values = {name: record.get(name) for name in RUN_OF_RECORD}
    values |= {name: case.get(name) or result.job.get(name) for name in RUN}
    values['test'] = of_case.test(case)
    values['options'] = shlex.join(_options(case))
    values['pages'] = (record.get('pages') or {}).get('asked')
    values['memory_policy'] = (record.get('placement_after') or {}).get('policy')
    values['threads_on'] = ' '.join(t['affinity'] for t in record.get('threads_on') or [])
    values['allowed'] = ', '.join(r['reason'] for r in record.get('reasons') or [] if r['allowed'])
    values['node'] = record.get('host') or case.get('node')
    return {**values, **{k: str(v) for k, v in values.items() if isinstance(v, dict | list) and v}}


def _options(case):
    """The command line without where things lie: the program's path, the record's."""
    words = [*filter(None, [case.get('executable')]), *(case.get('executable_opts') or [])]
    return [word.rsplit('/', 1)[-1] for word in words]


def _flat(tree, prefix=''):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{prefix}{key}.')
        elif isinstance(value, list) and any(isinstance(v, dict) for v in value):
            yield from _flat({str(i): v for i, v in enumerate(value)}, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', str(value) if isinstance(value, list) else value
