"""The `greycard` command. Only what parses arguments is imported here, so that --help answers at once."""

from __future__ import annotations

import sys

import typer

from greycard.cli import (
    balance,
    bench,
    candidates,
    compare,
    crossval,
    demo,
    doctor,
    estimate,
    evaluate,
    export,
    info,
    pack,
    reproduce,
    sidecar,
    train,
)
from greycard.errors import GreycardError

app = typer.Typer(
    help="The colour of the light in a photograph, and how sure that is, without a grey card in the frame.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    *(estimate, balance, sidecar, compare, evaluate, pack, train, crossval),
    *(reproduce, export, bench, doctor, info, demo),
):
    app.command(command.__name__.rsplit(".", 1)[-1])(command.command)
app.add_typer(candidates.commands, name="candidates")


def main() -> None:
    """Run the command; what a user can mend is printed in one line and ends with exit code 1."""
    try:
        app()
    except GreycardError as error:
        print(f"greycard: {error}", file=sys.stderr)
        sys.exit(1)
