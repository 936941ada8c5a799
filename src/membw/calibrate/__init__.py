"""membw calibrate: references from results."""
