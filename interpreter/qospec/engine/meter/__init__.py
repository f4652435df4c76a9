"""Meters: conformance of cells and packets to a contract."""
