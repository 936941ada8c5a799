"""membw run: measures this node or system, by ReFrame."""
