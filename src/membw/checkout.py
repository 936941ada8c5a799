"""Where the checkout lies, or what stands for one where membw is installed without."""

import os
import pathlib

from membw.errors import MembwError, did_you_mean
from membw.unpack import unpacked


def root() -> str:
    """The folder that holds reframe-checks and systems: MEMBW_ROOT, this file's checkout, or what
    an installed membw unpacked."""
    around = pathlib.Path(__file__).resolve().parents[2]
    named = os.environ.get('MEMBW_ROOT')
    here = named or (around if is_checkout(around) else unpacked())
    if not is_checkout(here):
        raise MembwError(f"no checkout of membw in '{here}'", 'source its setup-env.sh first')
    return str(here)


def systems() -> list[str]:
    return sorted(path.stem for path in pathlib.Path(root(), 'systems').glob('*.yaml'))


def refuse_unknown_system(name: str) -> None:
    known = systems()
    if name not in known:
        raise MembwError(f"no system '{name}' in systems/", did_you_mean(name, known))


def is_checkout(folder: str | os.PathLike[str]) -> bool:
    return os.path.isdir(os.path.join(folder, 'reframe-checks'))
