"""The programs of a node: which preset they are built by, and where they are."""

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from membw import presets
from membw.call import call
from membw.checkout import root
from membw.errors import MembwError, did_you_mean
from membw.files import one_at_a_time
from membw.grouped import grouped
from membw.site import machine

MOST = 3  # presets
LEAST_PRESETS = 2
# of a family, the preset that is measured first
PREFERRED = ('native', 'o3', 'o2')


def chosen(environs: list[str]) -> list[str]:
    """One preset of each compiler family, up to MOST; of a single family, LEAST_PRESETS of it."""
    table = presets.load()

    def rank(name: str) -> int:
        options = name.rpartition('-')[2]  # gcc-arm-native is a native one
        return (*PREFERRED, options).index(options)

    rows = {name: table['presets'][name] for name in environs if name in table['presets']}
    in_c = (
        (row['family'], name)
        for name, row in rows.items()
        if 'offload' not in row['features']
        and presets.language(table['families'][row['family']]) == 'c'
    )
    ordered = [sorted(names, key=rank) for names in grouped(in_c).values()]
    first = [names[0] for names in ordered]
    more = [name for names in ordered for name in names[1:]]
    return [*first, *more][: min(max(len(first), LEAST_PRESETS), MOST)]


def program_in(folder: Path, name: str) -> Path:
    """As it is installed, else as it is built."""
    installed = folder / f'membw-{name}'
    return installed if installed.exists() else folder / name


def built(names: Iterable[str], preset: str | None, folder: str | None) -> Path:
    """The folder of the programs, each built by make where it is not there yet; nodes of another
    CPU or compiler may have the same checkout, and build in another."""
    if folder:
        for name in names:
            if not os.access(program_in(Path(folder), name), os.X_OK):
                raise MembwError(f"no program '{name}' in '{folder}'", "'make install' brings it")
        return Path(folder)
    known = machine.buildable(presets.load())
    if not known or preset and preset not in known:
        hint = did_you_mean(preset or '', known) if known else '--programs DIR: built ones'
        raise MembwError(f"no compiler here for preset '{preset or 'gcc-o3'}'", hint)
    preset = preset or chosen([*known])[0]
    plan = presets.plan(preset, 'stream', f'--cc={known[preset]}')
    build = f'{preset}-{hashlib.sha256(plan.encode()).hexdigest()[:8]}'
    for name in names:
        if not Path(root(), 'build', build, name).exists():
            said = f'membw: building {name} by {preset}, the first time here'
            print(said, file=sys.stderr, flush=True)
        line = f'make -s -C src PROGRAM={name} PRESET={preset} CC={known[preset]}'.split()
        line.append(f'BUILD=../../build/{build}')
        with one_at_a_time(root()):
            done = call(line, None, cwd=root())
        if done.returncode:
            raise MembwError(f"'{name}' cannot be built: {done.stderr[-200:]}", ' '.join(line))
    return Path(root(), 'build', build)
