"""A synthetic run of ReFrame with all that a report shows; every name in it says synthetic."""

import json
import sqlite3
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import reframe_case

KERNELS = ('copy', 'scale', 'add', 'triad')
RELATIVE = (0.92, 0.93, 0.99, 1.0)
PINNINGS = ('none', 'likwid', 'numactl', 'omp')
PEAK = 256.0
START = 1_780_000_000  # 2026-05-28: nights from the future are left out
DAY = 86400
# preset -> (Triad in GB/s, kind of store, bytes moved / counted)
PRESETS = {
    'gcc-o2': (166.0, 'ordinary', 4 / 3),
    'gcc-native': (168.0, 'ordinary', 4 / 3),
    'clang-o3': (164.0, 'ordinary', 4 / 3),
    'icx-nt': (214.0, 'nontemporal', 1.0),
}
REFERENCE = 166.6


def folder(path, nights=1, seed=1, slower_from=None):
    """results/ as ReFrame and the checks leave it: reports, records, results.db."""
    path = Path(path)
    for name in ('reports', 'records'):
        (path / name).mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path / 'results.db') as base:
        base.execute('CREATE TABLE sessions(uuid TEXT PRIMARY KEY, session_start_unix REAL, '
            'session_end_unix REAL, json_blob TEXT, report_file TEXT)')  # fmt: skip
        for night in range(nights):
            share = 0.96 if slower_from is not None and night >= slower_from else 1.0
            text = json.dumps(report(path, night, np.random.default_rng(seed + night), share))
            file = path / 'reports' / f'run-{night:03d}.json'
            file.write_text(text)
            begun = START + night * DAY
            base.execute('INSERT INTO sessions VALUES(?, ?, ?, ?, ?)',
                (f's{night}', begun, begun + 60, text, str(file)))  # fmt: skip
    base.close()
    return path


def report(path, night, rng, share):
    info = {'time_start_unix': START + night * DAY, 'uuid': f's{night}', 'version': '4.10.4'}
    info |= {'time_end_unix': START + night * DAY + 600, 'cmdline': 'reframe (synthetic)'}
    cases = [
        stream_case(path, night, preset, pinning, rng, share)
        for preset in PRESETS
        for pinning in PINNINGS
    ]
    cases += [scan_case(path, night), failed_build(), skipped_case()]
    for case in cases:
        case['job_completion_time_unix'] = START + night * DAY
    return {'session_info': info, 'runs': [{'testcases': cases}]}


def case(name, environ, **more):
    known = {
        'system': 'synthetic', 'partition': 'milan', 'node': 'synthetic-n1', 'verdict': 'VALID',
        'unique_name': f'{name} {environ}', 'reasons': '', 'compiler': 'synthetic 12.2',
        'compile_line': f'cc --preset {environ} <*.c> -o stream',
        'source_sha256': 'aaaa', 'binary_sha256': f'bbbb-{environ}', 'spack_hash': 'hhhh',
        'peak_gbs': PEAK, 'peak_source': '10 synthetic channels x 3200 MT/s x 8 B',
        'job_completion_time': '2026-11-18T00:00:00+00:00', **more,
    }  # fmt: skip
    return reframe_case.case(name, environ, **known)


def stream_case(path, night, preset, pinning, rng, share):
    """gcc-o2 has references, which its unpinned run FAILs; numactl of clang is INVALID."""
    triad, stores, factor = PRESETS[preset]
    triad *= share * (0.55 if pinning == 'none' else 1) * (1 + rng.normal(0, 0.004))
    rates = dict(zip(KERNELS, (triad * r for r in RELATIVE), strict=True))
    invalid = (preset, pinning) == ('clang-o3', 'numactl')
    failed = (preset, pinning) == ('gcc-o2', 'none')
    reference = REFERENCE if preset == 'gcc-o2' else 0
    values = {
        f'synthetic:milan:{k}': [None if invalid else v, reference and reference * r, -0.05, 0.1,
                                 'GB/s', None]
        for (k, v), r in zip(rates.items(), RELATIVE, strict=True)
    }  # fmt: skip
    file = path / 'records' / f'{night:03d}-{preset}-{pinning}.json'
    file.write_text(json.dumps(record(rates, stores, factor, invalid, night)) + '\n')
    found = case(f'stream %pinning={pinning}', preset, pinning=pinning, perfvalues=values,
        record=str(file))  # fmt: skip
    if invalid:
        found |= {'result': 'fail', 'fail_phase': 'sanity', 'verdict': 'INVALID',
                  'fail_reason': 'sanity error: INVALID: disturbed (others 44 %)'}  # fmt: skip
    if failed:
        found |= {'result': 'fail', 'fail_phase': 'performance',
                  'fail_reason': 'performance error: triad=91.3 (l=158.2, u=183.2)'}  # fmt: skip
    return found


def record(rates, stores, factor, invalid, night):
    time = datetime.fromtimestamp(START + night * DAY, timezone.utc)
    return {
        'schema': 'membw-record-1', 'program': 'stream', 'version': '0.1.0', 'language': 'c',
        'kernels_set': 'standard', 'time': f'{time:%Y-%m-%dT%H:%M:%SZ}',
        'host': 'synthetic-n1', 'rank': 0, 'ranks': 1,
        'array_size': 88_000_000, 'element_bytes': 8, 'threads': 24,
        'peak_gbs': PEAK, 'verdict': 'INVALID' if invalid else 'VALID',
        'reasons': [{'reason': 'disturbed', 'detail': '', 'allowed': False}] if invalid else [],
        'kernels': {k: {'best_mbs': 1000 * v} for k, v in rates.items()},
        'threads_on': [{'thread': i, 'cpu': i, 'affinity': str(i)} for i in range(24)],
        'facts': {'cpu_model': 'Synthetic 9000', 'numa_nodes': 2},
        'build': {'compiler': 'synthetic 12.2', 'flags': ''},
        'codegen': {k: {'stores': stores, 'width_bits': 256, 'moved_bytes': 24 * factor}
                    for k in rates},
    }  # fmt: skip


def scan_case(path, night):
    """12 threads; local memory is full from 8 on, remote from 6 on."""
    values = {}
    for memory, full, best in (('local', 8, 98.6), ('remote', 6, 51.2)):
        for threads in range(1, 13):
            gbs = best * min(1, threads / full)
            values[f'synthetic:milan:triad_{memory}_{threads}'] = [
                gbs,
                0,
                None,
                None,
                'GB/s',
                None,
            ]
        key = f'synthetic:milan:saturation_{memory}'
        values[key] = [full, 0, None, None, 'threads', None]
    return case('numa_scan', 'gcc-o2', pinning='numactl', perfvalues=values)


def failed_build():
    why = "build system error: 'icx' says: unknown argument"
    return case('stream_binary ~synthetic:milan+icx-o2', 'icx-o2', fixture=True, result='fail',
        fail_phase='compile', fail_reason=why)  # fmt: skip


def skipped_case():
    return case('stream %pinning=kmp', 'icx-o2', pinning='kmp', result='skip', verdict='')
