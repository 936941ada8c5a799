"""membw rank: which node is slow."""
