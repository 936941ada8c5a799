"""Slurm as ReFrame knows it."""

# with and without accounting; as `scheduler` of a partition
SCHEDULERS = ('slurm', 'squeue')
