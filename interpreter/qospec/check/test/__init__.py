"""Tests: flows, sweeps, run settings, statements, and the cases made of them."""
