"""The memory modules in the record, from synthetic firmware tables (dmi_table.py)."""

import dmi_table as dmi
import pytest
from changed_source import OTHER_MACHINE, write_files

ALLOW = 'array-too-small,too-short,oversubscribed,wrong-pinning'


@pytest.fixture
def machine(build_program, tmp_path_factory, monkeypatch):
    """The program on the /sys of another machine."""

    def of(files):
        folder = write_files(tmp_path_factory.mktemp('machine') / 'sys', files)
        monkeypatch.setenv('MACHINE', str(folder.parent))
        return build_program('stream', changes=OTHER_MACHINE)

    return of


@pytest.fixture
def run(machine, run_program):
    """(record, output) of a run on a machine with these modules, and whatever else."""

    def of(*structures, **files):
        found = {k.replace('__', '/'): v for k, v in files.items()}
        if structures:
            found['firmware/dmi/tables/DMI'] = dmi.table(*structures)
        options = ['-n', '1000', '-t', '2', '--allow', ALLOW]
        return run_program(machine(found), *options)[2]['facts']

    return of


def test_the_modules_are_in_the_record_and_empty_slots_are_none(run):
    empty = dmi.module('DIMM 9', 'P0 CHANNEL H', mib=0)
    facts = run(dmi.module('DIMM_A1', 'P0 CHANNEL A', rated=3200, configured=2933), empty)
    assert facts['dimms_source'] == 'dmi'
    assert facts['dimms'] == [
        {'locator': 'DIMM_A1', 'bank': 'P0 CHANNEL A', 'type': 'DDR', 'size_mib': 32768,
         'rated_mts': 3200, 'configured_mts': 2933, 'width_bits': 72}
    ]  # fmt: skip
    facts = run(*dmi.sockets(channels=2), empty)
    assert len(facts['dimms']) == 4 and facts['memory_channels'] == 4


# CPU 0 and CPU 1 of two sockets
SOCKETS = {
    'devices/system/cpu/online': '0-1',
    'devices/system/cpu/cpu0/topology/core_siblings': '1',
    'devices/system/cpu/cpu1/topology/core_siblings': '2',
}
ONE = SOCKETS | {'devices/system/cpu/cpu1/topology/core_siblings': '1'}
BANKS = {
    'one slot per channel': (dmi.sockets(8), 16),
    'two slots': (dmi.sockets(8, slots=2), 16),
    'a channel gone': (dmi.sockets(8, slots=2)[:-2], 15),
    'half of the channels': (dmi.sockets(4, slots=2), 8),
    'by Intel': (dmi.sockets(2, 2, bank='P{socket}_Node0_Channel{letter}_Dimm0'), 4),
    'by Supermicro': (dmi.sockets(6, bank='_Node{socket}_Channel{letter}_Dimm1'), 12),
    'in another case': (dmi.sockets(8) + dmi.sockets(8, bank='p{socket} Channel {letter}'), 16),
    'of which socket is not said': (dmi.sockets(8, bank='CHANNEL {letter}'), None),
    'of each controller': (dmi.sockets(8, bank='MC{socket} CHANNEL {letter}'), None),
    'banks': (dmi.sockets(8, bank='BANK {letter}'), None),
    'of one module it is not said': ([*dmi.sockets(8), dmi.module('DIMM 9', 'BANK 0')], None),
    'of one slot each': (
        dmi.sockets(6, 2, bank='A{slot}_Node{socket}_Channel{letter}_Dimm{slot}'),
        12,
    ),
    'by the locator': (dmi.sockets(4, 2, 'CPU{socket}_Channel{letter}_DIMM{slot}', 'BANK 1'), 8),
    'the socket by the bank': (
        dmi.sockets(4, 2, 'Channel{letter}-DIMM{slot}', 'NODE {socket}'),
        8,
    ),
    'the socket by the locator': (
        dmi.sockets(4, 2, 'PROC {socket} DIMM {slot}', 'Channel {letter}'),
        8,
    ),
    'and a module of CXL': (
        [
            dmi.array(7, location=0xA4),
            *dmi.sockets(8),
            dmi.module('CXL 1', kind=dmi.DDR5, array=7),
        ],
        16,
    ),
    'and Optane': ([*dmi.sockets(8), dmi.module('DIMM 9', technology=7)], 16),
    'and a flash': ([*dmi.sockets(8), dmi.module('ROM', array=7), dmi.array(7, use=5)], 16),
    'and HBM': ([*dmi.sockets(8), dmi.module('HBM 0', kind=dmi.HBM2)], 16),
}
ONE_SOCKET = {
    'two slots of one channel': (['ChannelA-DIMM1', 'ChannelA-DIMM2'], 1),
    'of two': (['ChannelA-DIMM1', 'ChannelA-DIMM2', 'ChannelB-DIMM1', 'ChannelB-DIMM2'], 2),
    'of controllers': (['Controller0-ChannelA-DIMM0', 'Controller1-ChannelA-DIMM0'], 2),
    'of something': (['A1_ChannelA', 'A2_ChannelA'], None),
    'no channel': (['DIMM_A1', 'DIMM_B1'], None),
}
OWNERS = {
    'of one of two': (['PROC 1 DIMM 1', 'PROC 1 DIMM 2'], 1),
    'of both': (['P1-DIMMA1', 'P2-DIMMA1'], 2),
    'of one it is not said': (['PROC 1 DIMM 1', 'DIMM 2'], None),
    'slots': (['DIMM1', 'DIMM2'], None),
    'a controller is none': (['MC0 DIMM 1', 'MC1 DIMM 1'], None),
}


def test_a_module_is_no_channel_its_bank_or_its_locator_names_one(run):
    for case, (modules, channels) in BANKS.items():
        assert run(*modules, **SOCKETS)['memory_channels'] == channels, case
    for case, (locators, channels) in ONE_SOCKET.items():
        modules = [dmi.module(name, f'BANK {i}') for i, name in enumerate(locators)]
        assert run(*modules, **ONE)['memory_channels'] == channels, case


def test_the_sockets_that_have_modules_are_those_that_are_named(run):
    for case, (locators, count) in OWNERS.items():
        modules = [dmi.module(name, f'BANK {i}') for i, name in enumerate(locators)]
        assert run(*modules, **SOCKETS)['memory_sockets'] == count, case


def edac(**locations):
    """EDAC's files, by controller and slot: {'mc0/dimm0': 'channel 0 slot 0'}."""
    files = {}
    for place, where in locations.items():
        folder = f'devices/system/edac/mc/{place}'
        label = place.replace('/', ' ')
        facts = {'size': '16384', 'dimm_label': label, 'dimm_location': where}
        files |= {f'{folder}/{name}': text for name, text in facts.items()}
    return files


def two_controllers(channels):
    return edac(
        **{f'mc{m}/dimm{c}': f'channel {c} slot 0' for m in (0, 1) for c in range(channels)}
    )


def test_edac_names_modules_without_root(run):
    facts = run(**two_controllers(4))
    assert facts['dimms_source'] == 'edac' and facts['memory_channels'] == 8
    assert [d['size_mib'] for d in facts['dimms']] == [16384] * 8
    assert {d['configured_mts'] for d in facts['dimms']} == {None}


def test_a_rank_is_no_module(run):
    """As AMD's driver names its folders: eight channels of a module of two ranks."""
    channels = {
        f'mc{m}/rank{4 * c + r}': f'csrow {r} channel {c}'
        for m in (0, 1)
        for c in range(4)
        for r in (0, 1)
    }
    for gone, left in (((), 8), (('mc1/rank12', 'mc1/rank13'), 7)):
        there = {place: where for place, where in channels.items() if place not in gone}
        facts = run(**edac(**there))
        assert (facts['dimms_source'], facts['memory_channels']) == ('edac', left)
        assert [d['size_mib'] for d in facts['dimms']] == [2 * 16384] * left
        assert facts['dimms'][0]['locator'] == 'mc0 rank0'


def test_each_branch_has_its_channels(run):
    places = {f'mc0/dimm{i}': f'branch {i // 2} channel {i % 2} slot 0' for i in range(4)}
    assert run(**edac(**places))['memory_channels'] == 4


def test_the_firmware_and_edac_together(run):
    """What each knows: the speeds, and the channels."""
    facts = run(*[dmi.module(f'PROC 1 DIMM {n}') for n in range(8)], **two_controllers(4))
    assert (facts['dimms_source'], facts['memory_channels']) == ('dmi', 8)
    assert {d['configured_mts'] for d in facts['dimms']} == {3200}


def test_tables_of_nonsense_are_survived(run):
    """What a careless firmware could hold; the program's own end is a valid record."""
    for bytes_ in (b'', b'\0' * 100, b'\xff' * 100, b'\x11\x02\0\0', b'\x11\xff\0\0' + b'A' * 9):
        assert run(**{'firmware/dmi/tables/DMI': bytes_})['dimms'] == []


@pytest.mark.parametrize('total, left', [('1000000', '99996'), ('4000000', None)])
def test_memory_that_a_policy_binds_to_is_what_a_domain_has_free(
    machine, run_program, need, total, left
):
    """Domain 0 of this machine, said to have 100 MB to give, if that is all that there is."""
    need('numactl')
    numa = 'devices/system/node'
    has = {'MemTotal': 1000000, 'MemFree': 50000, 'Active(file)': 20000, 'Inactive(file)': 20000,
           'SReclaimable': 9996}  # fmt: skip
    program = machine({
        f'{numa}/online': '0',
        f'{numa}/node0/cpulist': '0-255',
        f'{numa}/node0/meminfo': '\n'.join(f'Node 0 {n}: {kib} kB' for n, kib in has.items()),
        '../proc/meminfo': f'MemTotal: {total} kB\nMemAvailable: 999999999999 kB',
    })  # fmt: skip
    bound = ('numactl', '--membind=0')
    status, said, _ = run_program(program, '-n', '5000000', '-t', '2', before=bound)
    assert status == 2 if left else status < 2, said
    assert not left or f'more than the {int(left) / 1024:.0f} MiB of memory available' in said


@pytest.mark.parametrize('online, cpus', [('nonsense', '0-1'), ('0', '3-1'), ('0', 'none')])
def test_a_list_that_is_none_is_no_machine_without_domains(machine, run_program, online, cpus):
    node = 'devices/system/node'
    program = machine({f'{node}/online': online, f'{node}/node0/cpulist': cpus})
    status, said, _ = run_program(program, '-n', '1000', '-t', '2')
    assert status == 2 and 'is no list of NUMA domains or CPUs' in said
