"""membw campaign: every node of a cluster once, a job for each, as it becomes idle."""
