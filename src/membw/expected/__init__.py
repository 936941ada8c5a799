"""What the memory of a node can do, and what others reach."""
