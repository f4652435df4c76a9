"""Metrics, one file each; `qospec.catalogue.discover` finds them."""
