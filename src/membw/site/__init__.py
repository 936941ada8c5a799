"""What a system is: its file, its nodes, its peak, this machine; bound for ReFrame."""
