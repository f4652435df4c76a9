"""Sources: the times, sizes and contracts of the items that a flow sends."""
