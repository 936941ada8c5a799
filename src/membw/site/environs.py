"""Environments: each toolchain of a partition with each preset of its compiler family."""

from membw.presets.table import Facts, Table


def environ_name(toolchain: str, family: str, preset: str) -> str:
    """`gcc11-o2`: the preset's options by the compiler that the partition calls `gcc11`."""
    return toolchain + preset.removeprefix(family)


def of_partition(partition: Facts, table: Table) -> dict[str, str]:
    """{environment: preset}, as the system file says; the presets where it says `auto`."""
    chains = partition['toolchains']
    if not isinstance(chains, dict):
        return {preset: preset for preset in table['presets']}
    return {
        environ_name(name, row['family'], preset): preset
        for name, chain in chains.items()
        for preset, row in table['presets'].items()
        if row['family'] == chain.get('family', name)
    }
