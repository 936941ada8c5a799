"""Results: one record of one process, runs of a node, what ReFrame stored."""
