"""What the CPU is called in a record, from the /proc/cpuinfo of several architectures."""

import json
import os
import subprocess

import pytest
from changed_source import other_machine

ARM = 'processor\t: 0\nCPU implementer\t: {}\nCPU architecture: 8\nCPU part\t: {}\n'
NAMES = {
    'x86': ('cpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon Gold 6126\n', 'Xeon Gold 6126'),
    'x86, nameless': ('vendor_id\t: AuthenticAMD\ncpu family\t: 25\ncpu MHz\t: 2400\n', None),
    'power': ('processor\t: 0\ncpu\t\t: POWER9, altivec supported\n', 'POWER9, altivec supported'),
    'riscv': ('hart\t\t: 0\nmmu\t\t: sv39\nuarch\t\t: thead,c910\n', 'thead,c910'),
    'loongarch': ('CPU Family\t\t: Loongson-64bit\nModel Name\t\t: 3C5000\n', '3C5000'),
    'grace': (ARM.format('0x41', '0xd4f'), 'Neoverse-V2'),
    'a64fx': (ARM.format('0x46', '0x001'), 'Fujitsu A64FX'),
    'vera': (ARM.format('0x4e', '0x010'), 'Olympus'),
    'cobalt': (ARM.format('0x6d', '0xd49'), 'Azure-Cobalt-100'),
    'new arm': (ARM.format('0x41', '0xfff'), 'implementer 0x41 part 0xfff'),
}


@pytest.mark.parametrize('cpu', NAMES)
def test_the_record_names_the_cpu_and_its_architecture(build_program, tmp_path_factory, cpu):
    folder = tmp_path_factory.getbasetemp() / 'cpu_name'
    program = build_program('stream', changes=other_machine(folder))
    text, name = NAMES[cpu]
    (folder / 'proc').mkdir(parents=True, exist_ok=True)
    (folder / 'proc/cpuinfo').write_text(text)
    record = folder / 'record.json'
    allow = 'array-too-small,too-short,oversubscribed,wrong-pinning,clock'
    words = [program, '-n', '1000', '-t', '2', '--allow', allow, '--json', record]
    subprocess.run(words, capture_output=True)
    facts = json.loads(record.read_text())['facts']
    assert (facts['cpu_model'], facts['architecture']) == (name, os.uname().machine)
