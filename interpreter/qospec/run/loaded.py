"""What all workers need, loaded once, by the process that they are copies of; see `run.workers`."""

from qospec.catalogue.kinds import discover
from qospec.engine import kernel
from qospec.run import runner

__all__ = ["runner"]

discover()
kernel.load()
