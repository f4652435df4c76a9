"""Lines: clocks, transmission, and queues that one line empties."""
