"""units(): the files of src/stream that a line compiles, as the builds ask for them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'configs'))

from presets import units  # noqa: E402, F401
