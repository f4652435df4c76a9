"""Items in batches: times, connections, marks, and how batches merge and part."""
