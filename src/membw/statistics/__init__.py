"""Statistics as pure functions over numbers; each cites its source."""
