"""A card that sees no file of its host, by ci/card-emu: what is taken there, what comes back.

The compiler is a stand-in (gcc for this host's CPU under the name of icc 13, tests/lib/standin),
and so is the card: an sshd on loopback. They show how a card is measured, no figure of one.
"""

import os
import pathlib
import re
import subprocess

import posed
import pytest
from checkout_copy import copy_checkout
from lib.stream_options import other_pages
from places import ROOT
from standin import StandIn

# the stand-in is gcc, whose OpenMP knows nothing of KMP_AFFINITY
ALLOW = 'array-too-small,too-short,disturbed,unstable,wrong-pinning'


@pytest.fixture(scope='module')
def house(tmp_path_factory, call, need, free_ports):
    """A checkout with a system of one host and two partitions, whose card is that of the first."""
    need('sshd', 'ssh', 'unshare')
    if os.geteuid():
        pytest.skip('only root can give a card a root of its own')
    root = copy_checkout(tmp_path_factory.mktemp('house'))
    card = root / 'card'
    place = {'CARD_EMU_DIR': card, 'CARD_EMU_PORT': free_ports(1), 'CARD_EMU_HIDE': ROOT.parent}
    emu = ROOT / 'ci/card-emu'
    started = call(emu, 'start', 'B1PRQ-5110P/5120D', 'Enabled', **place)
    if 'unshare failed' in (card / 'out').read_text():
        pytest.skip('no mount namespace can be made here')
    try:
        assert started.returncode == 0, started.stderr
        write_system(root, card, f'CARD_EMU_DIR={card} {emu} micinfo')
        yield root
    finally:
        call(emu, 'stop', **place)


def write_system(root, card, micinfo):
    icc = StandIn(root / 'icc', 'icc13', 'icc')
    # a runtime of its own: the program does not start where it is not found
    library = root / 'libs/libiomp5.so'
    library.parent.mkdir()
    line = ('gcc', '-shared', '-o', library, f'-Wl,-soname,{library.name}', '-xc', '/dev/null')
    subprocess.run(line, check=True)
    icc.link(f'-O0 -Wl,--no-as-needed {library}')
    partition = {
        'scheduler': 'ssh', 'launcher': 'local', 'hosts': ['mic0'], 'features': ['mic'],
        'access': ['-F', f'{card}/ssh_config'], 'processor': {'num_cpus': 1},
        'toolchains': {'icc13': {'cc': str(icc.path)}},
    }  # fmt: skip
    parts = []
    for name, ecc, path in (
        ('on', 'Enabled', str(library)),
        ('off', 'Disabled', str(library)),
        ('bare', 'Enabled', '/nowhere/libiomp5.so'),
    ):
        identify = {'command': micinfo, 'says': {'Board SKU': '5110P', 'ECC Mode': ecc}}
        extras = {'threads': 1, 'libraries': [path], 'identify': identify}
        parts.append({'name': name, **partition, 'extras': extras})
    posed.write(root, *parts)


@pytest.fixture
def measure(house, reframe):
    """measure(name=value): (done, {partition: its case of stream}) of the plain build."""

    def session(**given):
        words = ('-r', '--system=posed', '-n', 'stream%pinning=kmp', '-p', '^icc13-knc$')
        done = reframe('stream.py', *words, root=house, given=given)
        return done, {c['partition']: c for c in done.ran}

    return session


def test_program_and_libraries_go_there_and_the_record_comes_back(measure, house, call):
    """Another card, and one whose library this host does not have, are skipped with the reason."""
    config = house / 'card/ssh_config'
    there = call('ssh', '-F', config, 'mic0', f'ls {house} {ROOT}/src')
    assert there.returncode != 0 and there.stdout == '', 'the card sees files of its host'
    done, cases = measure(array_size=1000000, ntimes=5, allow=ALLOW)
    case, record = done.one('stream', partition='on')
    assert case['result'] == 'pass' and case['verdict'] == 'VALID', done.text
    assert record['array_size'] == 1000000 and record['kernels']['triad']['best_mbs'] > 0
    assert '-mmic' in case['build']['compile_line']
    assert "this is another card: ECC Mode is 'Enabled'" in done.text
    assert "no '/nowhere/libiomp5.so' on this host to copy there" in done.text
    assert cases['off']['result'] == cases['bare']['result'] == 'skip'


def test_an_invalid_run_comes_back_with_its_reasons(measure):
    done, _ = measure(array_size=1000, ntimes=5)
    case, record = done.one('stream', partition='on')
    assert done.code == 1 and case['verdict'] == record['verdict'] == 'INVALID', done.text
    assert 'array-too-small' in case['reasons']


# --- 2 MB pages ----------------------------------------------------------------------------------


def test_the_pages_that_the_articles_arrays_take_are_counted(build_program):
    """3 x 64,000,000 x 8 B; the article reserves 623 as an example."""
    facts = pathlib.Path('/proc/meminfo').read_text()
    free = re.search(r'HugePages_Free: +(\d+)', facts)
    if free and int(free[1]) >= 733:
        pytest.skip('this machine has them')
    line = [build_program('stream'), '-n', '64000000', '--pages', '2M']
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 2
    assert "'--pages 2M': 733 of these pages are not available" in done.stderr
    assert 'sysctl vm.nr_hugepages=' in done.stderr


@pytest.mark.parametrize(
    'asked, kib, said',
    [
        ('2M', 2048, []),
        ('2M', 4, ['wrong-placement (pages of 4 KiB, 2M requested)']),
        ('1G', 2048, ['wrong-placement (pages of 2048 KiB, 1G requested)']),
        (None, 4, []),
    ],
)
def test_pages_that_did_not_come_are_a_reason(asked, kib, said):
    assert other_pages(asked, {'page_kib': kib}) == said
