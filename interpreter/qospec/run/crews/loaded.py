"""What all workers need, loaded once, by the process that they are copies of; see `processes`."""

import gc
import json
import os
from contextlib import suppress
from pathlib import Path


def _load() -> None:
    gc.disable()  # what is loaded stays: to look for garbage in it takes a tenth of the time
    from qospec.catalogue.kinds import discover
    from qospec.engine import kernel
    from qospec.internals import MissingNameError
    from qospec.run import workshop
    from qospec.run.crews.processes import PATHS

    discover()
    with suppress(MissingNameError):  # the first trial says so
        kernel.load()
    if named := os.environ.get(PATHS):  # once for all of them
        with suppress(Exception):  # then a worker says what is wrong, or the files are
            paths, texts = json.loads(named)
            given = tuple((Path(path), text) for path, text in texts)
            workshop.check_once(tuple(map(Path, paths)), given)
    gc.freeze()  # nor do the copies look
    gc.enable()


_load()
