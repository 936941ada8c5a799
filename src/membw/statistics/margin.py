"""What matters in practice, however sure the statistics are."""

# 2 % from node to node, and from run to run of nodes alike, is normal (Intel's MKL guide).
MARGIN = 0.02
