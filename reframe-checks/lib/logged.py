"""Variables of a check that ReFrame writes into each line of its logs and into its report: what
`-S` sets, and what a run notes."""

import functools

from reframe.core.builtins import variable

logged_text = functools.partial(variable, str, value='', loggable=True)
logged_number = functools.partial(variable, int, value=0, loggable=True)
