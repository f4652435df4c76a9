"""`qos schema`: the JSON Schema of the YAML twin."""

from __future__ import annotations

import click

from qospec.cli.output import say_json


@click.command()
def schema() -> None:
    """Print the JSON Schema of the YAML form.

    It is of the draft 2020-12. An editor that uses it completes keywords, kinds and their fields in
    `.yaml` files.
    """
    from qospec.catalogue.kinds import discover
    from qospec.reference.schema import schema as schema_of

    say_json(schema_of(discover()))
