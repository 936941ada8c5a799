"""`python -m membw` is the command `membw`."""

import sys

from membw.start import main

sys.exit(main())
