"""`python -m membw` is the command `membw`."""

import sys

from membw.cli import main

sys.exit(main())
