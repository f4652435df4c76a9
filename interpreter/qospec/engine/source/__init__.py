"""Sources: times, sizes and contracts of what is sent."""
