"""What the CPU is called in a record, from the /proc/cpuinfo of several architectures."""

import os

from changed_source import OTHER_MACHINE, write_files

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


def test_the_record_names_the_cpu_and_its_architecture(build_program, run_program, tmp_path):
    program = build_program('stream', changes=OTHER_MACHINE)
    allow = 'array-too-small,too-short,oversubscribed,wrong-pinning,clock'
    for cpu, (text, name) in NAMES.items():
        write_files(tmp_path, {'proc/cpuinfo': text})
        words = [program, '-n', '1000', '-t', '2', '--allow', allow]
        facts = run_program(*words, MACHINE=tmp_path)[2]['facts']
        assert (facts['cpu_model'], facts['architecture']) == (name, os.uname().machine), cpu
