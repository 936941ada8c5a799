"""`membw system add`: the file of a cluster, written from what its scheduler and a node say."""
