"""The guess of a node's peak from its memory modules: right, or not made."""

import pytest

from membw.site.peak import derived
from membw.site.peak_from_modules import CannotTell, channel_count, memory_of_modules


def module(locator, bank='', configured=3200, kind='DDR'):
    return {
        'locator': locator,
        'bank': bank or None,
        'type': kind,
        'size_mib': 32768,
        'rated_mts': 3200,
        'configured_mts': configured,
        'width_bits': 72,
    }


def sockets(channels, slots=1, **more):
    """Two sockets with modules in so many channels, named as the boards of an EPYC name them."""
    names = [
        (f'DIMM {s}', f'P{p} CHANNEL {"ABCDEFGHIJKL"[c]}')
        for p in (0, 1)
        for c in range(channels)
        for s in range(slots)
    ]
    return [module(locator, bank, **more) for locator, bank in names]


def facts(modules, **more):
    return {
        'dimms_source': 'dmi',
        'dimms_are_virtual': False,
        'dimms': modules,
        'memory_channels': None,
        **more,
    }


# 2 sockets x channels x MT/s x 8 B
PEAKS = {
    'EPYC, one module per channel': (sockets(8), 16, 409.6),
    'EPYC, two modules per channel': (sockets(8, slots=2, configured=2933), 16, 375.424),
    'Genoa': (sockets(12, configured=4800), 24, 921.6),
    'rated is not configured': (sockets(8, configured=2666), 16, 341.248),
    'letters after DIMM': (
        [module(f'P{p}-DIMM{c}{s}') for p in (1, 2) for c in 'ABCDEF' for s in (1, 2)],
        12,
        307.2,
    ),
    'socket in the name of the slot': (
        [module(f'DIMM_P{p}_{c}0') for p in (0, 1) for c in 'ABCD'],
        8,
        204.8,
    ),
    'channels of several controllers': (
        [
            module(f'CPU{p}_DIMM_{n}', f'P{p}_Node{i}_Channel{c}_Dimm0')
            for p in (0, 1)
            for i in (0, 1)
            for c in (0, 1, 2)
            for n in [f'{i}{c}']
        ],
        12,
        307.2,
    ),
    'socket in the locator, channel in the bank': (
        [module(f'CPU{p} DIMM 0', f'CHANNEL {c}') for p in (0, 1) for c in 'ABCD'],
        8,
        204.8,
    ),
    'a laptop': (
        [module('ChannelA-DIMM0', 'BANK 0'), module('ChannelB-DIMM0', 'BANK 2')],
        2,
        51.2,
    ),
    'one channel empty': (sockets(8)[:-1], 15, 384.0),
}


@pytest.mark.parametrize('modules, channels, gbs', PEAKS.values(), ids=PEAKS)
def test_the_peak_is_channels_times_speed_times_8(modules, channels, gbs):
    memory = memory_of_modules(facts(modules))
    assert (memory['channels'], derived(memory)) == (channels, pytest.approx(gbs, rel=1e-9))
    assert memory['how'] == 'by the names of their slots'


NO_PEAK = {
    'a letter that is the socket': (
        [module(f'{p}{n}') for p in 'AB' for n in range(1, 9)],
        'do not tell the channels',
    ),
    'numbers through all slots': (
        [module(f'PROC 1 DIMM {n}') for n in range(1, 9)],
        'do not tell the channels',
    ),
    'one module is not named': ([*sockets(8), module('onboard')], 'do not tell the channels'),
    'sockets that share their names': (
        [module('DIMM 0', f'CHANNEL {c}') for c in 'ABAB'],
        'the same slot by name',
    ),
    'four modules on a channel': (
        [module(f'DIMM_A{n}') for n in (1, 2, 3, 4)],
        'more than three modules',
    ),
    'mixed speeds': (
        [*sockets(2), module('DIMM 0', 'P0 CHANNEL C', configured=2666)],
        'run at different speeds',
    ),
    'HBM or LPDDR': (sockets(2, kind=None), 'not of the DDR kind'),
    'a speed that the firmware does not know': (
        sockets(2, configured=None),
        'configured speed of a module is not known',
    ),
}


@pytest.mark.parametrize('modules, why', NO_PEAK.values(), ids=NO_PEAK)
def test_where_the_channels_cannot_be_told_there_is_no_guess(modules, why):
    with pytest.raises(CannotTell, match=why):
        memory_of_modules(facts(modules))


@pytest.mark.parametrize(
    'more, why',
    [
        ({'dimms': []}, 'describes no module'),
        ({'dimms_source': 'edac'}, 'not root'),
        ({'dimms_are_virtual': True}, 'a virtual machine'),
    ],
)
def test_without_the_firmware_of_a_real_machine_there_is_no_guess(more, why):
    with pytest.raises(CannotTell, match=why):
        memory_of_modules(facts(sockets(8), **more))


def test_edac_counts_channels_that_the_names_do_not_tell():
    modules = [module(f'PROC 1 DIMM {n}') for n in range(8)]
    memory = memory_of_modules(facts(modules, memory_channels=8))
    assert memory == {'channels': 8, 'mts': 3200, 'how': 'as EDAC counts them'}


def test_edac_and_names_that_differ_give_no_guess():
    with pytest.raises(CannotTell, match='different numbers of channels'):
        memory_of_modules(facts(sockets(8), memory_channels=8))


@pytest.mark.parametrize(
    'more, count',
    [
        ({}, 16),
        ({'memory_channels': 16}, 16),
        ({'memory_channels': 8}, 0),
        ({'dimms': []}, 0),
        ({'dimms': [], 'memory_channels': 12}, 12),
        ({'dimms': [module('A1')]}, 0),
    ],
)
def test_the_channels_of_a_record_are_edacs_else_as_the_names_say(more, count):
    assert channel_count(facts(sockets(8), **more)) == count
