"""membw bench: beside stream.c and its peers."""
