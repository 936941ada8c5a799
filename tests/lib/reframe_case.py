"""A test case as ReFrame's report has it."""


def case(name, environ='gcc-o2', **more):
    """One that passed, without a figure; `name` with its parameters."""
    return {
        'name': name, 'display_name': name, 'unique_name': name, 'hashcode': f'hash of {name}',
        'fixture': False, 'system': 'local', 'partition': 'default', 'environ': environ,
        'result': 'pass', 'fail_phase': None, 'fail_reason': None, 'perfvalues': {},
        'dependencies_actual': [], **more,
    }  # fmt: skip
