"""The command `qos`, as tests give it."""

from click.testing import CliRunner, Result

from qospec import cli


def qos(*words: object) -> Result:
    """Return what the command prints, and how it exits."""
    return CliRunner().invoke(cli.qos, [*map(str, words)])


def invoke(*words: object) -> Result:
    """Return the same, without colours."""
    return qos(*words, "--color", "never")
