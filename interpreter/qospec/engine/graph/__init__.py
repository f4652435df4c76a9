"""The network of a trial: nodes, wires, and the order in which they run."""
