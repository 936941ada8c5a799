"""One node, one word: FIT, SLOW and why, NOT JUDGED and what is missing, or DEAD."""
