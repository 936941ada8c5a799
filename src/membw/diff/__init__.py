"""membw diff: what differs between two results."""
