"""What all workers need, loaded once, by the process that they are copies of; see `run.workers`."""

import gc


def _load() -> None:
    gc.disable()  # what is loaded stays: to look for garbage in it takes a tenth of the time
    from contextlib import suppress

    from qospec.catalogue.kinds import discover
    from qospec.engine import kernel
    from qospec.internals import MissingNameError
    from qospec.run import runner  # noqa: F401 -- what is done for jobs

    discover()
    with suppress(MissingNameError):  # the first trial says so
        kernel.load()
    gc.freeze()  # nor do the copies look
    gc.enable()


_load()
