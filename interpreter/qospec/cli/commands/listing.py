"""`qos devices`, `elements`, `traffic`, `arrivals`, `policies`, `metrics`, …: what exists.

The commands differ only in what they list, so they are made here from the list of collections.
"""

from __future__ import annotations

import click

from qospec.cli import exits, options, output

HELP = {
    "devices": "List the devices of the library.",
    "elements": "List the elements that devices are made of.",
    "traffic": "List the kinds of traffic.",
    "arrivals": "List the arrival processes, by which sources emit.",
    "policies": "List the drop policies of queues.",
    "controls": "List the congestion controls of TCP.",
    "metrics": "List the metrics that criteria can use.",
    "methods": "List the methods by which searches choose loads.",
    "units": "List the units, with their exact sizes.",
    "media": "List the media of the library, with their rates.",
}
"""By name of a collection, what its command does."""


def make_command(plural: str) -> click.Command:
    """Return the command that lists a collection."""

    @click.command(
        plural,
        help=f"{HELP[plural]}\n\nWith a NAME, describe that one in full.",
    )
    @click.argument("name", required=False, default="")
    @options.as_json
    def show(name: str, *, as_json: bool) -> None:
        from qospec.catalogue.kinds import discover
        from qospec.reference.listing import COLLECTIONS, describe_in_full, list_overview

        collection = next(collection for collection in COLLECTIONS if collection.name == plural)
        catalogue = discover()
        if not name:
            documents = collection.documents(catalogue)
            if as_json:
                output.say_json({"schema": 1, plural: documents})
            else:
                output.say_text(list_overview(documents, output.find_width()))
            return
        found = collection.find(name, catalogue)
        if found is None:
            near = collection.find_nearest(name, catalogue)
            hint = f"did you mean `{near}`?" if near else f"`qos {plural}` lists them all"
            exits.end_for_user(f"no {collection.singular} is named `{name}`: {hint}")
        if as_json:
            output.say_json({"schema": 1, plural: [found]})
        else:
            output.say_text(describe_in_full(found, output.find_width()))

    return show
