"""`--on dask://HOST:PORT`: the workers of a scheduler, where the extra for it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from qospec.cli import exits, output

if TYPE_CHECKING:
    from qospec.run.crews.cluster import Cluster


def require_dask(command: str) -> None:
    """End the command unless Dask is installed."""
    if find_spec("distributed") is None:
        exits.end_for_user(
            f"`{command}` needs Dask: install it with `pip install 'qospec[cluster]'`"
        )


def join(address: str) -> Cluster:
    """Return the workers of the scheduler at `HOST:PORT`; ends the command without any."""
    require_dask("--on dask://…")
    from qospec.run.crews.cluster import Cluster
    from qospec.run.workers import UnreachableError

    try:
        return Cluster(address, lambda note: output.say(f"note: {note}", err=True))
    except UnreachableError as error:
        exits.end_for_environment(str(error))
