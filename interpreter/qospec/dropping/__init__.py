"""The drop policies: what a queue loses. One file each."""
