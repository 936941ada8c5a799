"""membw: measures, judges and compares the memory bandwidth of compute nodes."""

__version__ = '0.1.0'
