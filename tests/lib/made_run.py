"""A run as ReFrame and the checks leave it: reports/run.json, a record per case in records/."""

import itertools
import json

NUMBERS = itertools.count()
BEGUN = 1795428000.0


def metric(value, low=None, high=None, bound=False, unit='GB/s', better='higher'):
    row = {'value': value, 'unit': unit, 'better': better}
    row |= {} if low is None else {'low': low, 'high': high}
    return row | ({'bound': 'lower'} if bound else {})


class MadeRun:
    """Cases are added one by one; `path` is the report."""

    def __init__(self, folder):
        self.folder, self.cases, self.session = folder, [], {}
        self.path = folder / 'reports' / 'run.json'
        for name in ('reports', 'records'):
            (folder / name).mkdir(exist_ok=True)

    def add(self, metrics=None, preset='gcc-o2', test='stream', round=1, result='pass',
            pinning='omp', parameters='', references=None, reasons=(), core_ns=None, record=(),
            known_issues=None, **case):  # fmt: skip
        """A test case; without `metrics` it left no record."""
        words = [f'%round={round}'] * (round > 1) + [f'%pinning={pinning}'] * bool(pinning)
        name = ' '.join([test, *words, *parameters.split()])
        row = {
            'name': name, 'display_name': name, 'system': 'local', 'partition': 'default',
            'environ': preset, 'result': result, 'fixture': False, 'round': round,
            'perfvalues': {}, 'reference_expired': '', 'scheduler': 'local', **case,
        }  # fmt: skip
        if metrics:
            number = next(NUMBERS)
            path = self.folder / 'records' / f'{number}.json'
            pair = {'cpus': [0, 1], 'ns': core_ns, 'low_ns': core_ns, 'high_ns': core_ns}
            verdict = 'INVALID' if reasons else 'VALID'
            data = {
                'schema': 'membw-record-2', 'program': test, 'host': 'n1',
                'time': f'2026-11-23T10:{number // 60 % 60:02}:{number % 60:02}Z', 'threads': 2,
                'metrics': metrics, 'verdict': verdict, 'reasons': [], 'warnings': [],
                'llc_mib': 32, 'iterations': 10,
                'busy': {'wall_s': 1.0, 'other_share': 0.0, 'processes': []},
                'facts': {'cpu_model': 'EPYC', 'cores': 2}, **dict(record),
                **({'core_pair': pair, 'core_pair_after': pair} if core_ns else {}),
                'case': {
                    'test': test, 'system': 'local', 'partition': 'default', 'environ': preset,
                    'pinning': pinning, 'parameters': parameters, 'verdict': verdict,
                    'reasons': list(reasons), 'references': references or {},
                    'known_issues': known_issues or {},
                },
            }  # fmt: skip
            path.write_text(json.dumps(data) + '\n')
            row['record'] = str(path)
            row['perfvalues'] = {
                f'local:default:{name}': [m['value'], 0, None, None, m['unit'], 'pass']
                for name, m in metrics.items()
            }
        if reasons:
            why = '; '.join(reasons)
            row |= {'result': 'fail', 'word': 'INVALID', 'reasons': why, 'fail_phase': 'sanity',
                    'fail_reason': f'sanity error: INVALID: {why}'}  # fmt: skip
        self.cases.append(row)
        return self

    def event(self, event, **more):
        """A line of the ledger on the case that was added last."""
        case = self.cases[-1]
        line = {
            'event': event, 'time': BEGUN, 'unique_name': case.get('unique_name') or case['name'],
            'where': f'{case["system"]}:{case["partition"]}', 'environ': case['environ'],
        }  # fmt: skip
        if event == 'expected':
            line |= {'name': case['name'], 'display_name': case['name']}
        with open(self.path.with_suffix('.ledger'), 'a') as file:
            file.write(json.dumps(line | more) + '\n')
        return self

    def skip(self, why, phase='setup', **case):
        """A case that was skipped: the ledger has the reason."""
        self.add(result='skip', **case).event('expected')
        return self.event('skip', phase=phase, why=why)

    def missing(self, why, **case):
        """A case that cannot be measured for now, as the check ends it."""
        word = {'word': 'MISSING', 'reasons': why}
        self.add(result='fail', fail_phase='setup', **case).event('expected')
        self.cases[-1] |= word
        return self.event('failure', phase='setup', why=f'MISSING: {why}', **word)

    def build(self, preset='gcc-o2', result='pass', why='', test='stream'):
        """A fixture; its unique name is what dependencies name."""
        self.cases.append({
            'name': f'{test}_binary', 'unique_name': f'{test}_binary_{preset}', 'system': 'local',
            'partition': 'default', 'environ': preset, 'result': result, 'fixture': True,
            'fail_phase': 'compile', 'fail_reason': why,
        })  # fmt: skip
        return self

    def failed_with(self, preset, test='stream', **more):
        """A case whose build failed."""
        needs = [f'{test}_binary_{preset}', 'local:default', preset]
        return self.add(
            preset=preset, test=test, result='fail_deps', dependencies_actual=[needs], **more
        )

    def quick(self):
        """By `membw run` without arguments, begun two seconds before ReFrame."""
        self.session = {'membw_run': 'quick', 'membw_begun': f'{BEGUN - 2}'}
        return self

    def write(self):
        info = {'num_cases': len(self.cases), 'time_start_unix': BEGUN,
                'time_end_unix': BEGUN + 12.2, **self.session}  # fmt: skip
        report = {'session_info': info, 'runs': [{'testcases': self.cases}]}
        self.path.write_text(json.dumps(report))
        return str(self.path)
