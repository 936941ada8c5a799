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


def test_a_bound_has_a_name_of_its_own(application):
    said = 'In GB/s (± of a rerun, ≥ at least): copy 40.1 ±2.0, scale ≥ 30.2, add ~ 1.0, triad 2.5'
    found = figures(application, said)
    names = ['copy', 'scale, at least', 'add, a bound on neither side', 'triad']
    assert found == dict(zip(names, ['40.1', '30.2', '1.0', '2.5'], strict=True))


class Experiment:
    """As Benchpark's own of 2026 uses one: what it calls, what it demands, and what it appends."""

    def __init__(self, **variants):
        self.name, self.variables, self.package_specs = 'membw', {}, {}
        self.spec = types.SimpleNamespace(variants={k: (v,) for k, v in variants.items()})

    def add_experiment_variable(self, name, values, named=False, matrixed=False):
        self.variables[name] = values

    def set_required_variables(self, **values):
        assert set(values) <= {'n_resources', 'process_problem_size', 'total_problem_size'}
        self.variables |= values | {'device_type': 'cpu'}

    def add_package_spec(self, name, spec):
        self.package_specs[name] = {'pkg_spec': spec[0]}

    def ramble(self):
        self.compute_applications_section()
        self.compute_package_section()
        self.package_specs[self.name]['pkg_spec'] += '+openmp'
        return self.variables, self.package_specs


def test_benchparks_experiment_names_the_application_and_the_package(monkeypatch):
    modules = {
        'benchpark': {},
        'benchpark.directives': {'variant': lambda *words, **options: None},
        'benchpark.experiment': {'Experiment': Experiment},
        'benchpark.openmp': {'OpenMPExperiment': type('OpenMPExperiment', (), {})},
    }
    for name, content in modules.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    space = {'__name__': 'x'}
    exec((ENTRIES / 'benchpark/membw/experiment.py').read_text(), space)
    variables, packages = space['Membw'](preset='gcc-o3', workload='stream').ramble()
    assert packages == {'membw': {'pkg_spec': 'membw programs:=stream preset=gcc-o3 +openmp'}}
    assert variables['n_ranks'] == variables['n_nodes'] == 1 and 'n_resources' in variables
