"""`qos schema`: the JSON Schema of the YAML twin."""

from __future__ import annotations

import click

from qospec.cli.output import say_json


@click.command()
def schema() -> None:
    """Print the JSON Schema (draft 2020-12) of the YAML form, for editors and generators.

    An editor that knows it completes keywords, kinds and their fields in `.yaml` files.
    """
    from qospec.catalogue.kinds import discover
    from qospec.reference.schema import schema as schema_of

    say_json(schema_of(discover()))
