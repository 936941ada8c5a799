"""membw accept: a machine is accepted or refused by an agreed protocol."""
