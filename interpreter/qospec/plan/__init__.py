"""From a checked case to experiments: paths, tables, lowering, and what does not fit."""
