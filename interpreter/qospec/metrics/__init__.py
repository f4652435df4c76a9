"""Metrics, one file each; `qospec.catalogue.kinds.discover` finds them."""
