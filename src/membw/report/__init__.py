"""membw report: one HTML page; all pictures and all HTML are made here."""
