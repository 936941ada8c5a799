"""The names of the four files as before; going away."""

from membw.presets.command import *  # noqa: F403
from membw.presets.lines import *  # noqa: F403
from membw.presets.provenance import *  # noqa: F403
from membw.presets.table import *  # noqa: F403
