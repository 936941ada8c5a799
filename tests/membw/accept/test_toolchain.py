"""A toolchain that is not named like its compiler family: `gcc-o2` is run as `gcc11-o2`."""

import json

import acceptance_fleet
import pytest
import yaml
from results_store import case, write_report

from membw.accept import environs
from membw.cli import main

SYSTEM = {
    'name': 'toy',
    'partitions': [
        {'name': 'node', 'scheduler': 'slurm', 'toolchains': {'gcc11': {'family': 'gcc'}}}
    ],
}
RATES = (270.0, 275.0, 295.0, 302.0)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / 'reframe-checks').mkdir()
    (tmp_path / 'systems' / 'references').mkdir(parents=True)
    (tmp_path / 'systems' / 'toy.yaml').write_text(yaml.safe_dump(SYSTEM, sort_keys=False))
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    environs.partitions.cache_clear()
    yield tmp_path
    environs.partitions.cache_clear()


def report(path, environ, runs):
    """`runs` runs of one node under that environment, a day apart."""
    cases = [
        case('n1', 1.79e9 + 3600 * i, [r * (1 + i % 5 / 1000) for r in RATES],
             where='toy:node', environ=environ)
        for i in range(runs)
    ]  # fmt: skip
    write_report(path, cases)
    return str(path)


def protocol(path, preset='gcc-o2'):
    agreed = {
        'schema': 'membw-protocol-1', 'title': 'toy',
        'parties': {'buyer': 'Centre', 'vendor': 'Maker'},
        'period': {'from': '2026-09-01', 'to': '2026-12-31'},
        'contract': {'triad': 300.0}, 'nodes': {'count': 1, 'names': 'n1'},
        'runs': {'system': 'toy', 'preset': preset, 'pinning': 'likwid',
                 'array_size': 'auto', 'repetitions': 3, 'statistic': 'median'},
        'rule': {'allowed_failures': 0}, 'retest': {'rounds': 0, 'repetitions': 1},
        'risk': {'bad_node': 0.03, 'good_node': 0.01, 'noise': 0.005}, 'signatures': [],
    }  # fmt: skip
    return acceptance_fleet.write_signed(agreed, path)


def accept(capsys, *words):
    status = main(['accept', *words, '--json'])
    return status, json.loads(capsys.readouterr().out)


def test_a_run_of_the_toolchain_counts_under_its_preset(checkout, tmp_path, capsys):
    results = report(tmp_path / 'run.json', 'gcc11-o2', 3)
    status, data = accept(capsys, protocol(tmp_path / 'p.yaml'), '--results', results)
    assert (status, data['verdict']) == (0, 'ACCEPTED'), data['why']
    assert data['builds'][0]['preset'] == 'gcc-o2'


def test_a_run_of_another_preset_does_not(checkout, tmp_path, capsys):
    results = report(tmp_path / 'run.json', 'gcc11-native', 3)
    status, data = accept(capsys, protocol(tmp_path / 'p.yaml'), '--results', results)
    assert (status, data['verdict']) == (1, 'INCOMPLETE')
    reasons = {run['counted'] for run in data['not_counted']}
    assert reasons == {'not under the protocol: preset gcc11-native'}


def test_what_is_missing_is_asked_for_by_the_name_of_the_environment(checkout, tmp_path, capsys):
    results = report(tmp_path / 'run.json', 'gcc11-o2', 1)
    _, data = accept(capsys, protocol(tmp_path / 'p.yaml'), '--results', results)
    (line,) = data['to_do']
    assert ' -p gcc11-o2 --repeat=2 ' in line and '-J nodelist=n1' in line


def test_calibrate_writes_the_reference_by_the_name_of_the_environment(checkout, tmp_path, capsys):
    results = report(tmp_path / 'run.json', 'gcc11-o2', 70)
    assert main(['calibrate', '--system', 'toy', results, '--all-nodes']) == 0, capsys.readouterr()
    written = yaml.safe_load((checkout / 'systems/references/toy.yaml').read_text())
    assert written['stream']['toy:node']['gcc11-o2']['likwid']['triad'][0] > 300
