"""Ramble (and Benchpark, which is built on it): copy to applications/membw/application.py of a
repository of yours. An experiment is a SUCCESS with `Verdict: VALID` alone, and its figures are
written with that alone."""

from ramble.appkit import *


class Membw(ExecutableApplication):
    """Memory bandwidth of one node, with evidence and a verdict."""

    name = 'membw'
    software_spec('membw', pkg_spec='membw tuning=o2', package_manager='spack*')
    executable('stream', 'stream {options}', use_mpi=False)
    executable(
        'figures',
        "if grep -q '^Verdict: VALID' {log_file}; then grep '^Triad:' {log_file} >figures; fi",
        use_mpi=False, redirect='',
    )  # fmt: skip
    workload('stream', executables=['stream', 'figures'])
    workload_variable('options', default='', description='of stream', workloads=['stream'])
    success_criteria('valid', mode='string', match=r'^Verdict: VALID', file='{log_file}')
    figure_of_merit(
        'triad', units='MB/s', fom_regex=r'^Triad: +(?P<triad>\S+)', group_name='triad',
        log_file='{experiment_run_dir}/figures',
    )  # fmt: skip
