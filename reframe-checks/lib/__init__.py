"""What checks share; each is a check only of what it measures."""
