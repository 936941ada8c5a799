"""A second benchmark is two new files, a source and a check, and a line of the recipe."""

import json
import os
import pathlib
import re
import shutil
import sys

import posed
import pytest
from checkout_copy import copy_checkout, variables
from places import ROOT

from membw import presets

CHASE = ROOT / 'tests/data/chase'
NEW = {'chase.c': 'src/chase', 'chase.py': 'reframe-checks'}
RECIPE = 'spack-repo/spack_repo/membw/packages/membw/package.py'
LINE = '    "chase": (f"-m 1 {TINY}", ["latency:"]),\n'


@pytest.fixture(scope='module')
def house(tmp_path_factory):
    """A copy of the checkout with the pointer chase of the tests' data."""
    root = copy_checkout(tmp_path_factory.mktemp('house'))
    for name, folder in NEW.items():
        (root / folder).mkdir(exist_ok=True)
        shutil.copy(CHASE / name, root / folder)
    recipe = (root / RECIPE).read_text()
    (root / RECIPE).write_text(recipe.replace('    "dgemm": (', f'{LINE}    "dgemm": ('))
    user = root / '.spack/user'
    user.mkdir(parents=True)
    shutil.copy(ROOT / 'setup-env.sh', root)
    for name in ('.venv', '.spack/packages'):
        (root / name).symlink_to(ROOT / name)
    (user / 'include.yaml').write_text('include:\n- name: membw\n  path: ../../configs/spack\n')
    return root


@pytest.fixture(scope='module')
def session(house, reframe, quick_gcc):
    """reframe over the copy's checks: (session, {pinning: case}) of a build."""

    def run(build, *words):
        given = {'chase.allow': 'disturbed,unstable'}
        more = {'PATH': quick_gcc} if build == 'make' else {}
        done = reframe('chase.py', '-r', *words, root=house, given=given, MEMBW_BUILD=build,
                       SPACK_USER_CONFIG_PATH=house / '.spack/user', **more)  # fmt: skip
        return done, {c['pinning']: c for c in done.ran}

    return run


@pytest.fixture(scope='module')
def by_make(session):
    return session('make', '-n', '^chase', '-p', '^gcc-o2$')


def test_make_builds_it_and_records_the_line(house, call, tmp_path, quick_gcc):
    words = ['make', '-C', 'src', 'PROGRAM=chase', f'BUILD={tmp_path}', f'PYTHON={sys.executable}']
    done = call(*words, cwd=house, PATH=quick_gcc)
    assert done.returncode == 0, done.stderr
    record = presets.build_record(tmp_path / 'chase')
    assert record['compile_line'] == [
        *'gcc -O2 -fopenmp -mcmodel=medium chase.c -o'.split(), f'{tmp_path}/chase',
    ]  # fmt: skip
    assert record['program'] == 'chase'
    assert record['source_sha256'] == presets.source_sha256(house / 'src/chase')
    assert 'Nothing to be done' in call(*words, cwd=house, PATH=quick_gcc).stdout


def test_reframe_runs_it_under_two_pinnings_and_takes_its_metric(by_make, house):
    done, cases = by_make
    assert done.code == 0, done.text
    assert set(cases) == {'none', 'omp'}
    for case in cases.values():
        value, _, _, _, unit, _ = case['perfvalues']['local:default:latency']
        (metric,) = json.loads((house / case['record']).read_text())['metrics'].values()
        assert (unit, metric['better']) == ('ns', 'lower')
        assert value == pytest.approx(metric['value'], 1e-5)
        assert case['verdict'] == 'VALID' and case['build']['built_with'] == 'make'
        assert len(case['threads_on'].split()) == 1
    assert cases['omp']['threads_on'] != cases['none']['threads_on'] or os.cpu_count() == 1


def test_it_can_be_built_and_run_again(by_make, house):
    done, cases = by_make
    folder = done.folder / 'builds' / cases['omp']['build']['binary_sha256']
    build = json.loads((folder / 'build.json').read_text())
    assert build['make'][:2] == ['PROGRAM=chase', 'PRESET=gcc-o2']
    assert (done.folder / 'sources' / build['sources']).is_file()


def test_its_nodes_are_ranked_by_its_own_metric(by_make, house, call):
    done = call('membw', 'rank', '--json', house / by_make[1]['omp']['record'], **variables(house))
    assert done.returncode == 0, 'a node alone is compared with nothing: VALID'
    (node,) = json.loads(done.stdout)['verdicts']
    assert set(node['figures']) == {'latency'} and node['figures']['latency'] > 0


def test_it_stands_in_the_summary_and_the_report(by_make, house, call, tmp_path):
    folder = by_make[0].folder
    done = call('membw', 'summary', folder / 'report.json', **variables(house))
    assert 'chase on local:default: 1 thread' in done.stdout and 'GB/s' not in done.stdout
    assert 'Latency' in done.stdout and 'Verdict: VALID: 2 VALID' in done.stdout
    page = tmp_path / 'report.html'
    done = call('membw', 'report', folder / 'records', '-o', page, **variables(house))
    assert done.returncode == 0 and ' ns VALID; 2 VALID' in done.stdout, done.stdout + done.stderr
    text = re.sub('<dl.*?</dl>', '', page.read_text(), flags=re.S)  # what words mean
    assert 'latency' in text.lower() and 'Triad' not in text


@pytest.mark.spack
@pytest.mark.night
def test_spack_builds_it_by_the_same_line_and_again_to_the_bit(
    session, by_make, house, call, tmp_path
):
    """In the store of the house, and again from the lock in a store of its own."""
    done, cases = session('spack', '-n', 'chase%pinning=omp', '-p', '^gcc-o2$')
    assert done.code == 0, done.text
    case, made = cases['omp'], by_make[1]['omp']
    assert case['build']['built_with'] == 'spack' and len(case['build']['spack_hash']) == 32
    lines = [
        c['build']['compile_line'].split()[1:-1] for c in (case, made)
    ]  # all but compiler and output
    assert lines[0] == lines[1]
    assert case['build']['source_sha256'] == made['build']['source_sha256']
    # what was measured was run from the store, not from a view, which the next build changes
    scripts = [path.read_text() for path in done.folder.glob('stage/**/rfm_job.sh')]
    (program,) = re.findall(r'^(?:.* )?(/\S*/bin/membw-chase) .*--json', '\n'.join(scripts), re.M)
    assert program.startswith(f'{house}/.spack/store/') and not os.path.islink(program)
    words = ('--results', done.folder, '--run', '--json', '--folder', tmp_path / 'again')
    name = pathlib.Path(case['record']).name
    done = call('membw', 'reproduce', name, *words, '--margin', '99', **variables(house))
    assert done.stdout, done.stderr
    assert 'binary: the same, bit for bit' in json.loads(done.stdout)['notes'], done.stdout
    (again,) = (tmp_path / 'again/sources/.spack/store').glob('*/membw-*/bin/membw-chase')
    assert presets.sha256(again) == case['build']['binary_sha256']


def test_a_latency_above_its_reference_fails(session, house):
    slower_than_light = {'latency': [0.001, None, 0.05, 'ns']}
    index = {'$index': ['$partition', '$environ', 'pinning']}
    rows = {'posed:here': {'gcc-o3': {'none': slower_than_light}}}
    posed.write(house, references={'chase': index | rows})
    done, cases = session('make', '-n', 'chase%pinning=none', '--system', 'posed')
    assert done.code == 1 and cases['none']['verdict'] == 'VALID'
    assert 'performance error: ' in cases['none']['fail_reason']
    assert 'ns, expected 0.001' in cases['none']['fail_reason']
