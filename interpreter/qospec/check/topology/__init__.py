"""Topologies: nodes and links, dissolved into one flat network."""
