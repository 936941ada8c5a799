"""Every system file is in order; a wrong one is told in one line each, never a traceback."""

import re

import pytest
import yaml
from checkout_copy import copy_checkout, variables
from places import ROOT

from membw import presets
from membw.site import binder, peak, systems

FILES = sorted((ROOT / 'systems').glob('*.yaml'))
SYSTEMS = {path.stem: yaml.safe_load(path.read_text()) for path in FILES}


@pytest.fixture
def copy(tmp_path):
    """A checkout of its own for what reads systems/, to plant mistakes in."""
    return copy_checkout(tmp_path)


@pytest.fixture
def listing(call, copy):
    """`reframe -l` of the copy, as anybody would type it."""

    def run(system='thin', check='stream'):
        words = ('-c', copy / f'reframe-checks/{check}.py', '-l', '--system', system)
        return call('reframe', *words, cwd=copy, **variables(copy))

    return run


@pytest.fixture
def told(copy, monkeypatch, capsys):
    """What ReFrame's configuration says of the copy, line by line: it ends everything."""

    def read():
        monkeypatch.setattr(systems, 'root', lambda: copy)
        monkeypatch.setattr('sys.argv', ['reframe', '--system', 'thin:thin'])
        with pytest.raises(SystemExit) as end:
            binder.read()
        out, err = capsys.readouterr()
        assert (end.value.code, out) == (2, '')
        return err.splitlines()

    return read


def plant(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_every_machine_of_the_published_sources_is_there():
    sources = {'ulysses', 'thin', 'helios', 'phi', 'cea', 'robin', 'hydra'}
    assert set(SYSTEMS) >= {'local', *sources}


@pytest.mark.parametrize('path', FILES, ids=lambda p: p.stem)
def test_a_system_file_validates(path):
    _, problems = systems.load_file(path, presets.load())
    assert problems == []


def test_a_new_compiler_family_is_a_row_and_so_is_its_preset(copy, listing, call):
    """Of a compiler that the table does not know, in one file."""
    table = copy / 'configs/presets.yaml'
    family = "{cc: cc1c, openmp: -omp, spack: '%c=cc1', macros: [__cc1__]}"
    line = "family: cc1, line: '-O9 {openmp} {defs}', requires: [], features: []"
    plant(table, 'families:\n', f'families:\n  cc1: {family}\n')
    plant(table, '\npresets:\n', f'\npresets:\n  cc1-o9: {{{line}, source: its manual}}\n')
    plant(copy / 'systems/thin.yaml', 'gcc: {cc: gcc}', 'gcc: {cc: gcc}\n    cc1: {}')
    assert 'thin:thin+cc1-o9' in listing().stdout
    words = ('flags', 'cc1-o9', '--define=N=2')
    done = call('sh', copy / 'src/build.sh', *words, **variables(copy))
    assert done.stdout == '-O9 -omp -DN=2\n', done.stderr


@pytest.mark.parametrize(
    'memory, gbs',
    [
        ({'channels': 16, 'mts': 3200}, 409.6),
        ({'channels': 24, 'mts': 4800}, 921.6),
        # a stack of HBM2e has 8 channels of 16 bytes
        ({'kind': 'HBM2e', 'channels': 64, 'mts': 3200, 'bytes': 16}, 3276.8),
    ],
)
def test_the_peak_follows_from_the_memory(memory, gbs):
    extras = peak.completed({'memory': {**memory, 'source': '[x] a data sheet'}})
    assert extras['peak_gbs'] == pytest.approx(gbs, rel=1e-12)
    assert extras['peak_source'].endswith('B; [x] a data sheet')
    assert list(peak.problems(extras)) == []
    assert list(peak.problems({**extras, 'peak_gbs': gbs * 1.02}))
    assert list(peak.problems({**extras, 'peak_gbs': gbs * 1.005})) == []  # rounded by a person


@pytest.mark.parametrize(
    'given', [{'peak_gbs': 256, 'peak_source': '[orfeo]'}, {'numa_domains': 2}]
)
def test_a_peak_that_is_given_stays_and_none_is_made_up(given):
    assert peak.completed(given) == given


def test_the_generic_system_comes_last():
    every, lines = systems.load(presets.load())
    assert lines == {}
    assert [s['name'] for s in every if '.*' in s['hostnames']] == ['local']
    assert every[-1]['name'] == 'local'


SAID = {
    ('thin', 'thin'): {'num_cpus': 24, 'peak_gbs': 2 * 128, 'access': ['-p THIN']},
    ('ulysses', 'regular'): {
        'num_cpus': 20, 'num_cpus_per_core': 1, 'num_cpus_per_socket': 10, 'num_sockets': 2,
        'peak_gflops': 20 * 2.8 * 8, 'peak_gbs': None,
    },
    ('cea', 'node'): {'num_cpus': 128},
    ('helios', 'sandy-bridge'): {'stated_gbs': 2 * 40, 'peak_gflops': 16 * 2.7 * 8},
    ('helios', 'mic'): {'stated_gbs': 160, 'threads': 236 // 4},
    **{('phi', f'knc-{name}'): {'num_cpus': 4 * cores, 'threads': cores - 1}
       for name, cores in {'5110p': 60, '5110p-ecc-off': 60, '7110p': 61, '7110p-ecc-off': 61,
                           '7110p-thp': 61, '7110p-thp-ecc-off': 61, '7120p': 61,
                           '7120p-ecc-off': 61}.items()},
}  # fmt: skip


@pytest.mark.parametrize('where, facts', SAID.items(), ids=lambda value: ':'.join(value))
def test_what_the_sources_say_of_the_nodes(where, facts):
    (part,) = (p for p in SYSTEMS[where[0]]['partitions'] if p['name'] == where[1])
    known = {**part, **part.get('processor', {}), **part.get('extras', {})}
    for name, value in facts.items():
        assert known.get(name) == (pytest.approx(value) if value and name[:4] == 'peak' else value)


@pytest.mark.parametrize('places', [
    {'top': 512}, {'partition': 512}, {'extras': 512},
    {'top': 256, 'partition': 512}, {'top': 256, 'extras': 512}, {'partition': 256, 'extras': 512},
], ids=' and '.join)  # fmt: skip
def test_a_peak_by_hand_is_one_line_in_any_place_and_the_innermost_counts(places, tmp_path):
    data = yaml.safe_load((ROOT / 'systems/local.yaml').read_text())
    partition = data['partitions'][0]
    within = {'top': data, 'partition': partition, 'extras': partition.setdefault('extras', {})}
    for place, gbs in places.items():
        within[place]['peak_gbs'] = gbs
    path = tmp_path / 'local.yaml'
    path.write_text(yaml.safe_dump(data))
    data, problems = systems.load_file(path, presets.load())
    assert not problems
    source = 'as set in systems/local.yaml'
    assert data['partitions'][0]['extras'] == {'peak_gbs': 512, 'peak_source': source}


MISTAKES = {
    'a misspelt key': (
        'scheduler: slurm', 'shceduler: slurm', 'partitions[0].shceduler: unknown key',
        "did you mean 'scheduler'?",
    ),
    'a word for a number': (
        'peak_gbs: 256', 'peak_gbs: much',
        "partitions[0].extras.peak_gbs: 'much' is not of type 'number'", 'must be of type number',
    ),
    'a peak that the memory does not give': (
        'peak_gbs: 256', "memory: {channels: 8, mts: 3200, source: '[x]'}\n    peak_gbs: 256",
        'partitions[0].extras.peak_gbs: is 256, but 8 channels x 3200 MT/s x 8 B give 204.8',
        "fix one of them, or drop 'peak_gbs'",
    ),
    'an unknown compiler family': (
        'gcc: {cc: gcc}', 'gcx: {cc: gcc}',
        "partitions[0].toolchains.gcx: unknown compiler family 'gcx'", "add 'family:'",
    ),
    'a key given twice': (
        'peak_gbs: 256', 'peak_gbs: 256\n    peak_gbs: 200',
        "line 34: 'peak_gbs' is given twice", 'fix that line',
    ),
    'sockets that do not make up the node': (
        'num_cpus: 24', 'num_cpus: 25',
        'partitions[0].processor: num_cpus is 25, but 2 sockets of 12 CPUs are 24', 'fix one',
    ),
    'a time as Slurm writes it': (
        'time_limit: 1h', 'time_limit: 1:00:00', 'partitions[0].time_limit: 3600 cannot be used',
        'write 1h',
    ),
    'an option in two words': (
        "access: ['-p THIN'", "access: ['-p', 'THIN'",
        "partitions[0].access[1]: 'THIN' cannot be used",
        "an option with its value is one line of a job: '-p THIN'",
    ),
    'no YAML at all': (
        'name: thin', 'name: [thin', '', 'fix that line',
    ),
}  # fmt: skip


@pytest.mark.parametrize('old, new, fact, hint', MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_clear_line(copy, told, old, new, fact, hint):
    plant(copy / 'systems/thin.yaml', old, new)
    said = told()
    for line in f'membw: systems/thin.yaml: {fact}', f'hint: {hint}':
        assert any(text.startswith(line) for text in said), said
    assert all(text.startswith(('membw: ', 'hint: ')) for text in said), said


def test_a_wrong_file_ends_the_sessions_of_its_own_system_alone(copy, listing):
    """A colleague's half-written file ended every command for every other system."""
    plant(copy / 'systems/thin.yaml', 'launcher: srun', 'launcher: surn')
    plant(copy / 'systems/references/cea.yaml', 'stream:', 'straem:')
    done = listing('local')
    assert done.returncode == 0, done.stderr
    for name in ('thin', 'cea'):
        assert re.search(rf"^WARNING: systems/{name}.*: system '{name}' is left out$",
                         done.stderr, re.M), done.stderr  # fmt: skip
        its = listing(name)
        assert its.returncode == 2 and 'Traceback' not in its.stdout + its.stderr
        assert re.search(rf'^membw: systems/{name}.yaml: .*\nhint: ', its.stderr, re.M), its.stderr


def test_a_wrong_file_of_this_host_is_not_passed_over_for_the_generic_one(
    copy, monkeypatch, capsys
):
    """It would be measured without its references, and nothing said."""
    monkeypatch.setattr(systems, 'root', lambda: copy)
    monkeypatch.setattr('sys.argv', ['reframe', '-l'])
    monkeypatch.setattr(systems.socket, 'gethostname', lambda: 'here7')
    file = copy / 'systems/thin.yaml'
    plant(file, 'launcher: srun', 'launcher: surn')
    assert 'thin' not in [system['name'] for system in binder.read()[0]]
    file.write_text(re.sub(r'hostnames: .*', r"hostnames: ['here\\d']", file.read_text()))
    with pytest.raises(SystemExit):
        binder.read()
    assert "launcher: 'surn' is not one of" in capsys.readouterr().err


REFRAMES = """  modules: [craype]
  env_vars: [[FI_PROVIDER, cxi]]
  prepare_cmds: [ulimit -s unlimited]
  resources: [{name: memory, options: ['--mem={size}']}]
  sched_options: {use_nodes_option: true}
  devices: [{type: gpu, arch: a100, num_devices: 4}]
  container_platforms: [{type: Apptainer}]
"""


def test_what_reframe_knows_of_a_partition_reaches_it_as_it_stands(copy, call):
    file = copy / 'systems/thin.yaml'
    plant(file, 'scheduler: slurm', 'scheduler: pbspro')
    plant(file, 'launcher: srun', 'launcher: mpirun-openmpi')
    plant(file, '  access:', f'{REFRAMES}  access:')
    plant(file, 'references:', 'modules_system: nomod\nenv_vars: [[A, b]]\nreferences:')
    words = ('--system', 'thin', '--show-config=systems/0')
    done = call('reframe', *words, cwd=copy, **variables(copy))
    assert done.returncode == 0, done.stdout + done.stderr
    shown = yaml.safe_load(done.stdout[done.stdout.index('{') :])
    assert shown['env_vars'] == [['A', 'b']]
    (partition,) = shown['partitions']
    assert (partition['scheduler'], partition['launcher']) == ('pbspro', 'mpirun-openmpi')
    for key, value in yaml.safe_load(REFRAMES).items():
        assert partition[key] == value


def test_a_preset_is_bound_only_where_the_cpu_has_what_it_needs():
    bound = {system['name']: system['partitions'] for system in binder.configuration()['systems']}
    assert 'gcc-avx2' in bound['thin'][0]['environs']
    assert 'gcc-avx2' not in bound['ulysses'][0]['environs']


@pytest.mark.parametrize('words, level', [('-l', 'info'), ('-r -n stream', 'info'), ('-vr', None)])
def test_reframe_makes_lines_for_debugging_where_v_is_given_alone(monkeypatch, words, level):
    """They were half of what a session computed."""
    monkeypatch.setattr('sys.argv', ['reframe', *words.split()])
    monkeypatch.delenv('RFM_VERBOSE', raising=False)
    assert binder.logging()[0].get('level') == level
