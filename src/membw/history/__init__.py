"""membw history: what changed since when."""
