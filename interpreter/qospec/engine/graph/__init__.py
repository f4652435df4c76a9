"""The network of a trial: nodes, wires, the order in which they run, and random streams."""
