"""Ramble: `ramble repo add ci/entries/ramble`, then application `membw`. A run counts with verdict
VALID alone. What other processes disturbed is a lower bound, and has a name of its own."""

from ramble.appkit import *


class Membw(ExecutableApplication):
    """STREAM-compatible memory bandwidth: sizes by measuring, validated to the bit, a verdict."""

    name = 'membw'
    tags('memory-benchmark', 'micro-benchmark', 'single-node')

    software_spec('membw', pkg_spec='membw preset=gcc-o3', package_manager='spack*')
    required_package('membw', package_manager='spack*')

    # the next experiment runs anyhow
    executable(
        'stream',
        "sh -c 'stream {options} --json {experiment_run_dir}/record.json || :'",
        use_mpi=False,
    )
    workload('stream', executable='stream')
    workload_variable(
        'options',
        default='',
        description="options of `stream`; without '-n' it finds its size by measuring",
        workloads=['stream'],
    )
    environment_variable(
        'OMP_PLACES', value='cores', description='where threads may run', workloads=['stream']
    )
    environment_variable(
        'OMP_PROC_BIND', value='close', description='keeps them there', workloads=['stream']
    )

    success_criteria('verdict', mode='string', match=r'Verdict: VALID', file='{log_file}')

    # a line of a VALID run alone begins so
    for _kernel in ('copy', 'scale', 'add', 'triad', 'read', 'write'):
        for _name, _sign in (
            (_kernel, ''),
            (f'{_kernel}, at least', '(?:≥|>=) '),
            (f'{_kernel}, a bound on neither side', '~ '),
        ):
            figure_of_merit(
                _name,
                log_file='{log_file}',
                fom_regex=rf'^In GB/s .*\b{_kernel} {_sign}(?P<gbs>[0-9.]+)',
                group_name='gbs',
                units='GB/s',
            )
    figure_of_merit(
        'array size',
        log_file='{log_file}',
        fom_regex=r'Array size = (?P<elements>[0-9]+)',
        group_name='elements',
        units='elements',
    )
    figure_of_merit(
        'verdict',
        log_file='{log_file}',
        fom_regex=r'Verdict: (?P<verdict>.*)',
        group_name='verdict',
        units='',
    )
