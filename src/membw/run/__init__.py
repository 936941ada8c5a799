"""membw run: measures this node or system, and the table at the end."""
