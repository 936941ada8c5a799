"""membw: measures, judges and compares the memory bandwidth of compute nodes."""
