"""Devices: parts, ports, wires, classifiers, machines and invariants of one declaration."""
