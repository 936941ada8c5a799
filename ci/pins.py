"""The pins of requirements that another Python takes: pip asks the markers of its own Python.

usage: python ci/pins.py REQUIREMENTS PYTHON [PLATFORM]     as in 3.12, manylinux_2_28_aarch64
"""

import pathlib
import platform
import re
import sys

from packaging.markers import Marker


def pins(text, python, wheels=''):
    """Requirements without markers, for that Python on the machine of that tag of pip's."""
    full = python if python.count('.') > 1 else f'{python}.0'
    machine = re.search('(x86_64|aarch64|ppc64le|riscv64|s390x)$', wheels)
    over_there = {
        'python_version': '.'.join(full.split('.')[:2]),
        'python_full_version': full,
        'platform_machine': machine[0] if machine else platform.machine(),
    }
    for first, hashes in re.findall(r'(?m)^([a-z].*) \\\n((?: .*\n)+)', text):
        pin, _, marker = first.partition(' ; ')
        if not marker or Marker(marker).evaluate(over_there):
            yield f'{pin} \\\n{hashes}'


if __name__ == '__main__':
    print(''.join(pins(pathlib.Path(sys.argv[1]).read_text(), *sys.argv[2:])), end='')
