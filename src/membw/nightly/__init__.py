"""membw nightly: one folder per night."""
