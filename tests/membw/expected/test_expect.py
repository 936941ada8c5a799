"""`membw expect`: a CPU by its name, its peak as its maker prints it, and what a loss costs."""

import json
import re

import made_up_records
import pytest
from made_up_cpus import IDENTITIES

from membw.expected import command
from membw.site import cpu_peak as peak

# GB/s of one socket, as the makers' pages print it, or channels x MT/s x 8 B of them (see the
# sources of systems/facts/cpus.yaml)
PRINTED = {
    'EPYC 9654': 460.8, '9754': 460.8, 'EPYC 9965': 614.4, '8534P': 230.4, 'EPYC 7763': 204.8,
    '7742': 204.8, 'EPYC 7282': 85.3, 'EPYC 7601': 170.6, 'Ryzen 9 9950X': 89.6, 'MI300A': 5300,
    'Ryzen AI Max+ 395': 256, 'Xeon E5-2670': 51.2, 'E5-2697 v2': 59.7, 'E5-2680 v3': 68.3,
    'E5-2699 v4': 76.8, 'Platinum 8180': 128.0, 'Gold 6230': 140.8, 'Platinum 9242': 281.6,
    'Platinum 8380': 204.8, '8480+': 307.2, 'Gold 6430': 281.6,
    'INTEL(R) XEON(R) PLATINUM 8592+': 358.4,
    'Xeon 6980P': 844.8, '6767P': 409.6, '6780E': 409.6, 'i9-14900K': 89.6, 'Ultra 9 285K': 102.4,
    'Core Ultra 7 258V': 136.5, 'Grace': 512, 'Graviton2': 204.8, 'Graviton3': 307.2,
    'Graviton4': 537.6, 'Ampere Altra Q80-30': 204.8, 'A64FX': 1024, 'GB10': 273,
}  # fmt: skip


def test_the_peak_of_a_cpu_by_its_name_is_as_its_maker_prints_it(membw):
    for name, gbs in PRINTED.items():
        status, out, _ = membw('expect', *name.split())
        found = re.search(r'the peak is at most ([\d.]+) GB/s', out)
        assert status == 0 and found and float(found[1]) == pytest.approx(gbs, rel=0.003), name


def test_what_a_cpu_calls_itself_is_found_by_name_as_by_its_numbers():
    """But for those of one name and several generations."""
    known = [machine for machine in IDENTITIES if machine['name'] and machine['is']]
    by_name = [(peak.of_name(machine['name']), machine) for machine in known]
    assert [found['name'] for found, _ in by_name if found] == [m['is'] for f, m in by_name if f]
    assert {machine['name'].split()[-1] for found, machine in by_name if not found} == {
        '0000', '155H', '1.70GHz', 'thead,c920', '3.50GHz',
    }  # fmt: skip


# as lscpu has it; and one whose channels no source says
@pytest.mark.parametrize('name, family', [
    ('AMD EPYC 8324P 32-Core Processor', 'EPYC 8004 (Siena)'),
    ('AMD EPYC 4585PX 16-Core Processor', 'EPYC 4005, Ryzen 9000 (Granite Ridge)'),
    ('AMD Ryzen Threadripper PRO 7995WX 96-Cores', 'Ryzen Threadripper PRO 7000WX and 9000WX'),
    ('Core Ultra 9 285K', 'Core Ultra 200S (Arrow Lake)'), ('Xeon 6349P', None),
])  # fmt: skip
def test_a_name_with_its_cores_is_no_core_of_intel(name, family):
    assert peak.of_name(name).get('name') == family


def test_modules_are_counted_and_what_lacks_is_said(membw):
    _, out, _ = membw('expect', '7763', '--sockets', '2', '--dimms', '14x64G-3200,1x64G-2933')
    assert '15 of 16 channels are populated; 15 modules: one socket has fewer; 2933 of 3200' in out
    assert '2933 of 3200 MT/s (the modules are rated for 2933)' in ' '.join(out.split())
    assert 'at most 352 GB/s' in out and 'only root' not in out
    _, out, _ = membw('expect', '9654', '--sockets', '2', '--dimms', '24x64G-4800')
    for line in (
        'the peak is 921.6 GB/s (2 sockets x 12 channels x DDR5-4800).',
        '  copy, scale                       614.4                  921.6',
        '  add, triad                        691.2                  921.6',
        '  read                              921.6                  921.6',
        '  write                             460.8                  921.6',
        'A channel without a module takes 38.4 GB/s, 4.2 % of the peak',
        'More than 883.2 GB/s moved prove all 24 channels; each 38.4 less, one channel less.',
    ):
        assert line in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize('name, those, others', [
    ('7763', {'cscs-zen3', 'uob-rome-large'}, {'my-7742', 'oci-9654-nps1'}),  # no peak; no kin
    ('Gold 6230', {'cirrus', 'uob-skl-gcc'}, {'e5-2637v3-1600', 'my-2695v4'}),  # no rate
    ('i9-14900K', set(), {'Published'}),
])  # fmt: skip
def test_what_is_published_of_a_cpu_is_of_its_kin(membw, name, those, others):
    words = {*membw('expect', *name.split())[1].split()}
    assert those <= words and not others & words


def test_of_this_machine_its_own_facts_are_taken(membw, monkeypatch):
    facts = made_up_records.FACTS | {
        'cpu_model': 'AMD EPYC', 'cores': 2,
        'cpu_id': {'vendor': 'AuthenticAMD', 'family': '25', 'model': '17', 'hypervisor': True},
    }  # fmt: skip
    monkeypatch.setattr(command, 'here', lambda programs: facts)
    status, out, _ = membw('expect')
    said = (
        "If the CPU's numbers (family 25, model 17) are true, it is one of EPYC 9004 (Genoa): 2 of"
    )
    assert status == 0 and out.startswith(said)
    data = json.loads(membw('expect', '--json')[1])
    assert data['tables'][0]['rows'][1]['ordinary'] == pytest.approx(0.75 * 460.8)


@pytest.mark.parametrize('words, said', [
    (['nonsense'], "'nonsense' is no CPU that is known here"),
    (['9654', '--dimms', 'many'], "invalid value for '--dimms': 'many'"),
    (['9654', '--sockets', '0'], "invalid value for '--sockets': '0'"),
    (['--sockets', '2'], 'no CPU given'),
    (['--programs', '/nowhere'], "no program 'stream' in '/nowhere'"),
])  # fmt: skip
def test_what_cannot_be_answered_is_said(membw, words, said):
    status, _, err = membw('expect', *words)
    assert status == 2 and said in err
