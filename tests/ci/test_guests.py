"""The application for Ramble: which figures it takes of what `stream` prints. Ramble itself, and
Benchpark, are not here: they are stood in for by what the files call."""

import re
import subprocess
import sys
import types

import pytest
from places import ROOT

ENTRIES = ROOT / 'ci' / 'entries'
SMALL = '-n 1000000 -t 3 --allow array-too-small,too-short,wrong-pinning,disturbed,unstable'


@pytest.fixture
def application(monkeypatch):
    """{directive: [(words, options)]} of the Ramble application."""
    calls = {}
    kit = types.ModuleType('ramble.appkit')
    names = 'tags software_spec required_package executable workload workload_variable'
    names += ' environment_variable success_criteria figure_of_merit'

    def directive(name):
        return lambda *words, **options: calls.setdefault(name, []).append((words, options))

    for name in names.split():
        setattr(kit, name, directive(name))
    kit.ExecutableApplication = object
    kit.__all__ = [*names.split(), 'ExecutableApplication']
    monkeypatch.setitem(sys.modules, 'ramble', types.ModuleType('ramble'))
    monkeypatch.setitem(sys.modules, 'ramble.appkit', kit)
    exec((ENTRIES / 'ramble/applications/membw/application.py').read_text(), {'__name__': 'x'})
    return calls


def figures(application, text):
    """As Ramble reads a log: line by line."""
    found = {}
    for (name,), options in application['figure_of_merit']:
        for line in text.splitlines():
            match = re.search(options['fom_regex'], line)
            if match:
                found[name] = match[options['group_name']]
    return found


def run(application, build_program, tmp_path, options):
    """What the application's line prints."""
    ((_, line), _) = application['executable'][0]
    line = line.format(options=options, experiment_run_dir=tmp_path)
    path = f'{build_program("stream").parent}:/usr/bin:/bin'
    done = subprocess.run(line, shell=True, capture_output=True, text=True, env={'PATH': path})
    return done.stdout


def test_a_valid_run_has_figures_and_an_invalid_one_has_none(application, build_program, tmp_path):
    ((_, criterion),) = application['success_criteria']
    valid = run(application, build_program, tmp_path, SMALL)
    found = figures(application, valid)
    assert re.search(criterion['match'], valid) and found['array size'] == '1000000'
    assert {name.partition(',')[0] for name in found} > {'copy', 'scale', 'add', 'triad'}
    invalid = run(application, build_program, tmp_path, '-n 1000000 -t 3')
    assert not re.search(criterion['match'], invalid)
    assert set(figures(application, invalid)) == {'array size', 'verdict'}


def test_a_lower_bound_has_a_name_of_its_own(application):
    said = (
        'Valid: GB/s (± of a rerun, ≥ at least): copy 40.1 ±2.0, scale ≥ 30.2, add 1.0, triad 2.5'
    )
    found = figures(application, said)
    assert found == {'copy': '40.1', 'scale, at least': '30.2', 'add': '1.0', 'triad': '2.5'}


def test_benchparks_experiment_names_the_application_and_the_package(monkeypatch):
    for name in ('benchpark', 'benchpark.directives', 'benchpark.experiment'):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules['benchpark.directives'].variant = lambda *words, **options: None
    sys.modules['benchpark.experiment'].Experiment = object
    space = {'__name__': 'x'}
    exec((ENTRIES / 'benchpark/membw/experiment.py').read_text(), space)
    experiment = space['Membw']()
    assert list(experiment.compute_applications_section()) == ['membw']
    (package,) = experiment.compute_spack_section()['packages'].values()
    assert package['pkg_spec'].startswith('membw programs:=stream preset={preset}')
