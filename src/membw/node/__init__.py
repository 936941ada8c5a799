"""One node: its battery, its word and why."""
