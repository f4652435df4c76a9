"""The formats that `qos export` writes: one file each."""
