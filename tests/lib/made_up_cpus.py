"""Machines as they call themselves, and records of them, for the tests of what to expect."""

import re

import yaml
from places import ROOT

IDENTITIES = yaml.safe_load((ROOT / 'tests/data/identities.yaml').read_text())
SEEN = ('vendor', 'family', 'model', 'stepping', 'implementer', 'part')


def record_of(machine, **more):
    words = machine['id'].split()
    names = {1: SEEN[2:3], 2: SEEN[4:]}.get(len(words), SEEN[:4])
    vendor, _, product = machine.get('machine', '').partition(' ')
    seen = dict.fromkeys(SEEN) | dict(zip(names, words))
    seen |= {'hypervisor': machine.get('hypervisor', False)}
    seen |= {'machine_vendor': vendor or None, 'machine': product or None}
    facts = {'cpu_model': machine['name'], 'cpu_id': seen, 'cores': machine.get('cores')}
    return {'facts': {**facts, 'sockets': machine.get('sockets', 1), **more}}


def identity(text='EPYC 7763'):
    return next(m for m in IDENTITIES if text in (m['name'] or ''))


def servers(peak):
    """The whole EPYC and Xeon nodes whose channels are known."""
    return [
        machine for machine in IDENTITIES
        if re.search('EPYC|XEON', (machine['name'] or '').upper()) and machine.get('gbs')
        and not machine.get('hypervisor') and peak.of_node(record_of(machine)).channels
    ]  # fmt: skip


def modules(count, mts=3200, rated=3200):
    return [{'configured_mts': mts, 'rated_mts': rated}] * count


def measured(machine, rates, stores='ordinary', llc_mib=256, caches=4, bounds=(), **more):
    """The record of a proven run of it: {kernel: GB/s}, arrays of so many caches."""
    kernels = ('copy', 'scale', 'add', 'triad')
    rows = {name: {'value': gbs, 'unit': 'GB/s', **dict(bounds)} for name, gbs in rates.items()}
    codegen = {
        kernel: {'stores': {'non-temporal': 'nontemporal'}.get(stores, stores)}
        for kernel in kernels
    }
    record = {
        'metrics': rows, 'codegen': codegen, 'llc_mib': llc_mib, 'ranks': 1, 'element_bytes': 8,
        'array_size': int(caches * llc_mib * 2**20 / 8), 'residency': {'known': 'proven'},
        'verdict': 'VALID', 'threads': machine.get('cores'),
    }  # fmt: skip
    return {**record_of(machine, **more.pop('facts', {})), **record, **more}
