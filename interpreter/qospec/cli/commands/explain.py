"""`qos explain` and `qos schema`: what a code, a word or a name means; the schema of YAML files."""

from __future__ import annotations

import click

from qospec.cli import exits, loading, options, output


@click.command()
@click.argument("name", metavar="CODE|NAME")
@options.as_json
def explain(name: str, *, as_json: bool) -> None:
    """Explain a code, a word of the language, or a name.

    \b
    qos explain E0210               the page of an error code
    qos explain sweep               a word of the language
    qos explain gcra                an element, a kind of traffic, a metric, a unit, a device
    qos explain FILE.qos::video     a declaration: each field, its value, and who set it where
    qos explain traffic.video       the same, named as `import traffic` makes it known
    """  # noqa: D301 -- click reads \b as a sign
    from qospec.catalogue.kinds import discover
    from qospec.diagnostics import Problems, SpecificationError
    from qospec.reference.explanation import UnknownNameError, explain_name
    from qospec.reference.listing import describe_in_full

    problems = Problems()
    try:
        found = explain_name(name, discover(), problems)
    except UnknownNameError as error:
        if problems.errors:
            loading.report(problems, as_json=as_json)
        exits.end_for_user(str(error))
    except SpecificationError:
        loading.report(problems, as_json=as_json)
        return
    loading.report(problems, as_json=as_json)
    if as_json:
        output.say_json({"schema": 1, "explained": found})
        return
    output.say_text(
        "\n\n".join(describe_in_full(explained, output.find_width()) for explained in found)
    )


@click.command()
def schema() -> None:
    """Print the JSON Schema of the YAML form.

    It is of the draft 2020-12. An editor that uses it completes keywords, kinds and their fields in
    `.yaml` files.
    """
    from qospec.catalogue.kinds import discover
    from qospec.reference.schema import build_schema as schema_of

    output.say_json(schema_of(discover()))
