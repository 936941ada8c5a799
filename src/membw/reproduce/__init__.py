"""membw reproduce: the same binary and the same run again."""
