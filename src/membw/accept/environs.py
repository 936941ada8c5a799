"""A protocol names a preset; a run names its environment: the toolchain with the preset's options.

They are the same only where a toolchain is named like its compiler family: `gcc-o2` is `gcc11-o2`
of the toolchain `gcc11: {family: gcc}`.
"""

from functools import cache
from pathlib import Path

import yaml

from membw.accept.agreed import known_systems
from membw.checkout import refuse_unknown_system, root


@cache
def partitions(system):
    """Of systems/<system>.yaml."""
    path = Path(root(), 'systems', f'{system}.yaml')
    refuse_unknown_system(system)
    return yaml.safe_load(path.read_text()).get('partitions', [])


def environs(runs):
    """Environments of the protocol's system that are its preset, the one to be ordered first.

    Where the system is not known, as on another party's machine, the preset itself.
    """
    names, is_known = [], runs['system'] in known_systems()
    for partition in partitions(runs['system']) if is_known else ():
        chains = partition['toolchains']
        for name, chain in chains.items() if isinstance(chains, dict) else ():
            family = chain.get('family', name)
            if runs['preset'].startswith(f'{family}-'):
                names.append(name + runs['preset'].removeprefix(family))
    names = list(dict.fromkeys(names)) or [runs['preset']]
    return sorted(names, key=lambda name: name != runs['preset'])


def preset_of(runs, known):
    """The preset of a run, by what is known of it; None where nothing is."""
    environ = known.get('environ')
    if known.get('preset') or environ is None:
        return known.get('preset')
    return runs['preset'] if environ in environs(runs) else environ
